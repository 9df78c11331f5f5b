# API and worker. Temporal is a separate server.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN GOWORK=off go mod download
COPY . .
RUN GOWORK=off CGO_ENABLED=0 go build -trimpath -ldflags '-s -w' -o /out/longhaul ./cmd/longhaul \
 && mkdir -p /out/data

FROM gcr.io/distroless/static-debian12:nonroot
COPY --from=build /out/longhaul /longhaul
COPY --from=build --chown=nonroot:nonroot /out/data /data
ENV LONGHAUL_DATA_DIR=/data
VOLUME /data
EXPOSE 7420
ENTRYPOINT ["/longhaul"]
