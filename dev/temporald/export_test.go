package temporald

// ServerLogger lets tests log as the server does.
var ServerLogger = serverLogger
