"""The deployment files: docker-compose.yml, the Dockerfile, systemd's units; and a run of the compose file, where an engine answers."""
