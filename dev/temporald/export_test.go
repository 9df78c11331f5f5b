package temporald

// ServerLogger lets tests log as the server does.
var ServerLogger = serverLogger

// Lock locks a directory.
var Lock = lock
