# The program without Temporal: the API, workers and the commands.
FROM golang:1.26.8-bookworm AS build
WORKDIR /src
ENV GOWORK=off CGO_ENABLED=0 GOTOOLCHAIN=local
COPY go.mod go.sum ./
RUN go mod download
COPY . .
# What "longhaul version" shows; the commit is not in the build context.
ARG VERSION=dev COMMIT= TIME=
RUN go build -trimpath -ldflags "-s -w -X longhaul/internal/process.Version=$VERSION -X longhaul/internal/process.Commit=$COMMIT -X longhaul/internal/process.Time=$TIME" \
    -o /out/longhaul ./cmd/longhaul \
 && mkdir -p /out/data

# Certificates of authorities, time zones and a user, but no shell.
FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/longhaul /longhaul
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV LONGHAUL_DATA_DIR=/data LONGHAUL_OPS_ADDR=0.0.0.0:9420
VOLUME /data
# By number, as Kubernetes checks it: the user nonroot.
USER 65532:65532
EXPOSE 7420 7421 9420
HEALTHCHECK --interval=5s --timeout=6s --start-period=60s CMD ["/longhaul", "health"]
ENTRYPOINT ["/longhaul"]
