# Tidegate in a container: docker build -t tidegate .
#
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/work" tidegate run scenario.toml --report report.html
#
# The live engine needs root and network namespaces:
#
#   docker run --rm --user root --privileged -v "$PWD:/work" tidegate run scenario.toml --engine live
#
# A release builds from images by their digests, which docs/release.py asks for:
#
#   docker build --build-arg BUILDER=rust@sha256:… --build-arg RUNTIME=python@sha256:… -t tidegate .

# Builder and runtime are the same Debian, so the wheel need not run on an older one (make wheel does).
ARG BUILDER=rust:1.93-slim-bookworm
ARG RUNTIME=python:3.12-slim-bookworm

FROM ${BUILDER} AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python3 -m venv /tools \
    && /tools/bin/pip install --no-cache-dir "maturin>=1.9,<2" \
    && /tools/bin/maturin build --locked --compatibility linux --interpreter python3 --out /wheels \
    && /tools/bin/pip wheel --no-cache-dir --no-deps --wheel-dir /wheels ./papers

FROM ${RUNTIME}
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels \
    && useradd --create-home tidegate && install --directory --owner tidegate /work
# Pictures need no display; kept results lie beside the scenario's folder, where the host can keep them.
ENV MPLBACKEND=Agg TIDEGATE_STORE=/work/.tidegate-store
WORKDIR /work
USER tidegate
ENTRYPOINT ["tidegate"]
CMD ["--help"]
