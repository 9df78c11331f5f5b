package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"mime"
	"net/http"
	"path"
)

// assetPath is the path of the script, the styles and the images, before their names.
const assetPath = Path + "/assets/"

//go:embed assets/*
var assetFiles embed.FS

// An asset is a file that all pages use.
type asset struct {
	data    []byte
	media   string
	version string // changes with the data
}

// assets are those files by their names.
type assets map[string]asset

func newAssets() assets {
	out := assets{}
	files, _ := fs.Glob(assetFiles, "assets/*") // the pattern is valid
	for _, file := range files {
		data, _ := assetFiles.ReadFile(file) // it is embedded
		sum := sha256.Sum256(data)
		out[path.Base(file)] = asset{data, mime.TypeByExtension(path.Ext(file)), hex.EncodeToString(sum[:6])}
	}
	return out
}

// url returns the URL of an asset. It changes with the asset, so browsers may keep it.
func (a assets) url(name string) string { return assetPath + name + "?v=" + a[name].version }

func (a assets) serve(w http.ResponseWriter, r *http.Request) {
	file, ok := a[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.media)
	h.Set("Cache-Control", "no-cache")
	if r.URL.Query().Get("v") == file.version {
		h.Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(file.data) // fails only if the client has disconnected
}
