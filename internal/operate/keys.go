package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"longhaul/a2a"
	"longhaul/api/call"
	"longhaul/api/identity"
	"longhaul/internal/journal"
	"longhaul/internal/process"
	"longhaul/internal/serve"
	"longhaul/opt"
	"longhaul/opt/access"
)

// keysCommand is "longhaul keys": it keeps the API keys in the data directory. A
// running server with the same directory sees every change at once.
type keysCommand struct {
	Create keysCreateCommand `cmd:"" help:"Create an API key and print it, once."`
	List   keysListCommand   `cmd:"" help:"List the API keys, without their secrets."`
	Revoke keysRevokeCommand `cmd:"" help:"Revoke an API key. Servers refuse it within seconds."`
}

// keysCreateCommand is "longhaul keys create".
type keysCreateCommand struct {
	serve.Store
	Principal string        `arg:"" help:"Who calls with the key: a person or a program."`
	Scopes    []string      `required:"" help:"What the key may do: runs:create, runs:read, runs:cancel, approvals:respond, webhooks:manage, schedules:manage, absences:manage (of others), costs:read (of all tenants), payloads:read (to decrypt payloads of Temporal, of any tenant), or all, which is every one but the last three." placeholder:"SCOPE"`
	Tenant    string        `help:"Tenant of the principal." default:"default"`
	Groups    []string      `help:"Groups of the principal." placeholder:"GROUP"`
	Name      string        `help:"What the key is for." placeholder:"TEXT"`
	Expires   time.Duration `help:"After how long the key expires; 0 for never." default:"0" placeholder:"DURATION"`
}

func (c *keysCreateCommand) Run(p *process.Process) error {
	scopes, err := call.ParseScopes(c.Scopes)
	switch {
	case err != nil:
		return process.Usagef("--scopes: %v", err)
	case len(scopes) == 0:
		return process.Usagef("--scopes is empty: such a key may do nothing")
	case !identity.ValidName(c.Principal) || !identity.ValidName(c.Tenant):
		return process.Usagef("the principal and --tenant need a name of up to 256 bytes, without control characters, that does not begin with \"longhaul:\"")
	case c.Expires < 0:
		return process.Usagef("--expires must be above 0, or 0 for never")
	}
	now := time.Now()
	key := access.APIKey{Tenant: c.Tenant, Principal: c.Principal, Groups: c.Groups, Name: c.Name, CreatedAt: a2a.At(now)}
	for _, s := range scopes {
		key.Scopes = append(key.Scopes, string(s))
	}
	if c.Expires > 0 {
		key.ExpiresAt = a2a.At(now.Add(c.Expires))
	}
	text := identity.NewKey(&key)
	if err := c.WithJournal(p, func(j *journal.Journal) error { return j.APIKeys.AddAPIKey(p.Ctx, key) }); err != nil {
		return fmt.Errorf("create an API key: %w", err)
	}
	fmt.Fprintf(p.Stderr, "Key %s for %s in tenant %s, for servers with %s. It is shown only now:\n", key.ID, key.Principal, key.Tenant, c.Location())
	fmt.Fprintln(p.Stdout, text)
	return nil
}

// keysListCommand is "longhaul keys list".
type keysListCommand struct{ serve.Store }

func (c *keysListCommand) Run(p *process.Process) error {
	var list []access.APIKey
	var err error
	if c.Exists() { // otherwise it would be made
		err = c.WithJournal(p, func(j *journal.Journal) (err error) {
			list, err = j.APIKeys.APIKeys(p.Ctx)
			return err
		})
	}
	if err != nil {
		return fmt.Errorf("list the API keys: %w", err)
	}
	if len(list) == 0 {
		fmt.Fprintf(p.Stderr, "There are no API keys in %s. To make one: %s keys create. Another place: --data-dir or --journal\n", c.Location(), p.Command)
		return nil
	}
	var rows [][]string
	for _, k := range list {
		rows = append(rows, []string{k.ID, k.Tenant, k.Principal, strings.Join(k.Scopes, ","), strings.Join(k.Groups, ","), day(k.CreatedAt), keyStatus(k, time.Now()), k.Name})
	}
	process.WriteTable(p.Stdout, []string{"ID", "TENANT", "PRINCIPAL", "SCOPES", "GROUPS", "CREATED", "STATUS", "NAME"}, rows)
	return nil
}

func keyStatus(k access.APIKey, now time.Time) string {
	switch {
	case !k.RevokedAt.IsZero():
		return "revoked " + day(k.RevokedAt)
	case !k.Valid(a2a.At(now)):
		return "expired " + day(k.ExpiresAt)
	case !k.ExpiresAt.IsZero():
		return "until " + day(k.ExpiresAt)
	}
	return "valid"
}

func day(t a2a.Time) string { return t.Time().Format(time.DateOnly) }

// keysRevokeCommand is "longhaul keys revoke".
type keysRevokeCommand struct {
	serve.Store
	ID string `arg:"" help:"Id of the key, as the command keys list shows it."`
}

func (c *keysRevokeCommand) Run(p *process.Process) error {
	id := identity.KeyID(c.ID)
	err := opt.ErrUnknown
	if c.Exists() { // otherwise it would be made
		err = c.WithJournal(p, func(j *journal.Journal) error {
			return j.APIKeys.RevokeAPIKey(context.WithoutCancel(p.Ctx), id, a2a.At(time.Now()))
		})
	}
	switch {
	case errors.Is(err, opt.ErrUnknown):
		return fmt.Errorf("there is no API key with this id in %s: see %s keys list", c.Location(), p.Command)
	case err != nil:
		return fmt.Errorf("revoke an API key: %w", err)
	}
	fmt.Fprintf(p.Stdout, "Key %s is revoked.\n", id)
	return nil
}
