# One image for each program, by --build-arg PROGRAM=patient: the static program, whom TLS trusts, a user, and the bill of
# materials at /sbom.cdx.json. No shell, no package manager, nothing to update but the program.
#
# The files come from one of two stages. `compiled` builds them from the tree: with the network, or without it where
# `go work vendor` has put a vendor folder into the tree. `prebuilt` takes those that `make images` has built, with
# .bin/image as the context; it pulls nothing and needs no network.
ARG BINARIES=compiled

FROM golang:1.26.8-bookworm AS compiled
WORKDIR /source
COPY . .
ARG VERSION=development
RUN --mount=type=cache,target=/root/.cache/go-build --mount=type=cache,target=/go/pkg/mod \
    GOTOOLCHAIN=local CGO_ENABLED=0 go run ./tools/image/cmd/image -out /out -version "$VERSION"

FROM scratch AS prebuilt
COPY . /out/

FROM ${BINARIES} AS files

FROM scratch
ARG PROGRAM
ARG VERSION=development
ARG REVISION=unknown
ARG CREATED=1970-01-01T00:00:00Z
LABEL org.opencontainers.image.title="patient-mesh ${PROGRAM}" \
      org.opencontainers.image.description="The ${PROGRAM} program of the patient record service" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.created="${CREATED}" \
      org.opencontainers.image.licenses="Apache-2.0"
COPY --from=files /out/etc /etc
COPY --from=files --chown=65532:65532 /out/data /data
COPY --from=files /out/sbom/${PROGRAM}.cdx.json /sbom.cdx.json
COPY --from=files /out/bin/${PROGRAM} /program
USER 65532:65532
ENV LISTEN_ADDR=:8080
EXPOSE 8080
# A Kubernetes probe asks /readyz itself.
HEALTHCHECK --interval=5s --timeout=4s --start-period=60s --retries=3 CMD ["/program", "healthy"]
ENTRYPOINT ["/program"]
