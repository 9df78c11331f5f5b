package topology

// Translate translates the value of a variable of a process at 127.1.0.9.
func Translate(name, value string) string {
	return translator{
		ip:        "127.1.0.9",
		hosts:     map[string]string{"temporal": "127.1.0.1", "api-a": "127.1.0.2", "api-b": "127.1.0.3", "api": "127.1.0.4", "postgres": "127.1.0.5"},
		paths:     map[string]string{"/data": "/tmp/x/data", "/etc/temporal/dynamicconfig.yaml": "/src/dynamicconfig.yaml"},
		published: map[string]string{"127.0.0.1:7420": "127.1.0.7:7420"},
	}.variable(name, value)
}
