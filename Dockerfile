# Tidegate in a container: docker build -t tidegate .
#
#   docker run --rm -v "$PWD:/work" tidegate run scenario.toml --report report.html
#
# The live engine needs network namespaces:
#
#   docker run --rm --privileged -v "$PWD:/work" tidegate run scenario.toml --engine live

# Builder and runtime are the same Debian, so the wheel need not run on an older one (make wheel does).
FROM rust:1.93-slim-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends python3 python3-venv \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /source
COPY . .
RUN python3 -m venv /tools \
    && /tools/bin/pip install --no-cache-dir "maturin>=1.9,<2" \
    && /tools/bin/maturin build --release --locked --compatibility linux --interpreter python3 --out /wheels

FROM python:3.12-slim-bookworm
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir /wheels/*.whl && rm -rf /wheels
# Pictures need no display; kept results lie beside the scenario's folder, where the host can keep them.
ENV MPLBACKEND=Agg TIDEGATE_STORE=/work/.tidegate-store
WORKDIR /work
ENTRYPOINT ["tidegate"]
CMD ["--help"]
