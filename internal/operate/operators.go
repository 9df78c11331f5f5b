package operate

// Commands are the commands for operators, which use the journal and Temporal themselves.
type Commands struct {
	Deploy  deploymentCommand `cmd:"" name:"deployment" help:"Show and promote the versions of the workers, for deploys without surprises."`
	Migrate migrateCommand    `cmd:"" help:"Make the tables of a journal in PostgreSQL, or bring them up to date."`
	Keys    keysCommand       `cmd:"" help:"Create, list and revoke API keys."`
	Store   journalCommand    `cmd:"" name:"journal" help:"Verify, rebuild or compact the journal: the data that clients see."`
}
