package executortest

import "context"

// Broken lists, by name, the rules that the executor of cfg breaks.
func Broken(ctx context.Context, cfg Config) map[string]string {
	out := map[string]string{}
	for _, c := range checks {
		if err := c.run(ctx, cfg.filled()); err != nil {
			out[c.name] = err.Error()
		}
	}
	return out
}
