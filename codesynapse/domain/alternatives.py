"""Tools of which a project uses one at a time, in families. Data, and how to ask for it."""

from __future__ import annotations

from codesynapse.domain.names import name_key

__all__ = ["alternatives", "sole"]

# Of these a project has one, whoever says so: a second name is the newer one.
_SOLE = (
    "npm yarn pnpm",
    "poetry pipenv pdm uv",
)
# Of these a project may have two for a while; one takes the other's place when that is said.
_FAMILIES = (
    *_SOLE,
    "npm yarn pnpm bun",
    "pip poetry pipenv pdm uv conda",
    "webpack vite rollup esbuild parcel turbopack rspack",
    "jest vitest mocha jasmine ava",
    "pytest unittest nose",
    "cypress playwright selenium puppeteer",
    "eslint biome oxlint",
    "prettier biome",
    "flake8 pylint ruff",
    "black ruff yapf",
    "mypy pyright",
    "fly fly.io flyio render heroku vercel netlify railway hetzner digitalocean linode ovh aws gcp"
    " azure cloudflare",
    "jenkins github_actions circleci gitlab_ci gitlab-ci travis buildkite drone teamcity",
    "github gitlab bitbucket gerrit",
    "postgres postgresql pg mysql mariadb sqlite cockroachdb",
    "mongo mongodb dynamodb cassandra",
    "redis valkey memcached dragonfly",
    "kafka rabbitmq nats sqs pulsar redpanda",
    "celery rq dramatiq huey",
    "sidekiq resque good_job",
    "elasticsearch opensearch solr meilisearch typesense algolia",
    "react vue svelte angular solid preact",
    "next next.js nextjs nuxt remix sveltekit astro",
    "flask django fastapi starlette",
    "express fastify koa hono nest nestjs hapi",
    "redux zustand jotai mobx recoil",
    "vuex pinia",
    "prisma typeorm drizzle sequelize knex kysely mikroorm",
    "sqlalchemy peewee tortoise",
    "tailwind bootstrap bulma",
    "maven gradle bazel ant",
    "terraform opentofu tofu pulumi",
    "ansible chef puppet",
    "docker podman",
    "nginx caddy traefik haproxy apache",
    "jira linear github_issues",
    "slack teams discord mattermost zulip",
    "datadog newrelic honeycomb",
    "keycloak auth0 okta clerk cognito",
    "stripe adyen paypal",
    "sendgrid mailgun postmark ses",
    "vim neovim nvim emacs helix zed vscode vs_code intellij pycharm webstorm sublime cursor",
    "bash zsh fish",
    "rest graphql grpc trpc",
    "make just task",
)
_MEMBERS = [frozenset(name.replace("_", " ") for name in family.split()) for family in _FAMILIES]


def alternatives(one: str, other: str) -> bool:
    """Whether two different names are of one family, so that the one can replace the other."""
    first, second = name_key(one), name_key(other)
    return first != second and any({first, second} <= family for family in _MEMBERS)


def sole(one: str, other: str) -> bool:
    """Whether two different names are of a family of which a project has one at a time."""
    first, second = name_key(one), name_key(other)
    families = _MEMBERS[: len(_SOLE)]
    return first != second and any({first, second} <= family for family in families)
