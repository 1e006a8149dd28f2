"""Words the rules know. Data only: no rule is about one sentence, every list is a word family."""

from __future__ import annotations

__all__ = [
    "AMBIGUOUS",
    "BAD_HEADS",
    "FILLERS",
    "MONTHS",
    "PRONOUNS",
    "TOOLS",
    "TRAILERS",
    "VAGUE",
    "WEEKDAYS",
    "alternatives",
    "words",
]


def words(text: str) -> frozenset[str]:
    """The words of a list written as text."""
    return frozenset(text.split())


def alternatives(text: str) -> str:
    """A regular expression group of the words, longest first; ``_`` stands for a space."""
    items = sorted({w.replace("_", " ") for w in text.split()}, key=len, reverse=True)
    return "(?:" + "|".join(items) + ")"


# What may stand before the statement itself and says nothing.
FILLERS = alternatives(
    """yes yeah yep yup ya ok okay k nope nah naw sure right well so and but
    then also oh ah ahh uh hm hmm eh ugh locally sorry haha lol btw fyi psa anyway actually
    basically
    honestly hey hi hello please pls good great cause cuz bc because since as_of_now
    by_the_way for_the_record heads_up just_so_you_know just_fyi just_a_reminder reminder
    note_that remember_that keep_in_mind_that keep_in_mind careful be_careful caution attention
    watch_out heads-up one_more_thing another_thing also_note important while_we're_here quick_note
    on_second_thought in_fact that_said the_thing_is first second finally fwiw tbh imo yes_please
    und aber ach also_noch übrigens achtung kurz_noch et mais attention au_fait du_coup donc alors
    y pero ojo_que ojo ah_y por_cierto e mas só_lembrando_que lembrando_que aliás atenção
    en maar trouwens let_op done thanks thx cool nice hold_on wait hard_no ja si sí oui sim"""
)

# What may hang at the end and says nothing.
TRAILERS = alternatives(
    """btw lol haha pls please tho though anyway here_too ok okay thx thanks imo tbh fyi seriously
    ever period right_now now yet too as_well only_please everywhere_please bitte übrigens noted
    already anymore again by_now for_now and_all or_so"""
)

PRONOUNS = words(
    """it its it's that this these those they them he she him her one ones that's there here
    what which who something anything nothing everything someone anyone somebody anybody
    nobody everyone everybody people stuff things thing you your ours mine yours theirs
    whatever es das dies diese die der man sie er c'est ça cela ce il elle on eso esto ello
    lo la le él ella isso isto ele ela dat dit het deze die 这个 那个 它 这 那 それ これ あれ"""
)

# Subjects that end in one of these are about the moment, not about the project.
BAD_HEADS = words(
    """weather coffee wifi machine laptop morning afternoon evening lunch train day today week
    thing things stuff idea problem issue bug reason question answer guess way mess
    joke first second last rest same difference fun time times sense fault output 
    message i you we he she me us someone somebody people guy guys folks man lol wow sorry"""
)

# Objects that say nothing by themselves.
VAGUE = words(
    """it that this them those these there here one ones so too same now yet fine good great ok
    okay done ready slow fast broken red green failing down up off on out back gone
    unrelated related flaky weird nice cool wrong right true false bad better worse enough
    sure possible useful useless noise live mine yours ours all both none nothing something
    anything everything more less first last again never always only just not really very
    pretty a the an to of in at by and or for with from what how why who it's crazy annoying
    awful terrible huge big small new different similar easy hard simple clear unclear clean
    dead old fixed working trouble fun missing happy sad tired busy afk around away late
    early nvm"""
)

MONTHS = alternatives(
    """january february march april may june july august september october november december
    jan feb mar apr jun jul aug sep sept oct nov dec
    januar februar märz mai juni juli oktober dezember
    janvier février mars avril juin juillet août septembre octobre novembre décembre
    enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre
    janeiro fevereiro março maio junho julho setembro outubro novembro dezembro"""
)

WEEKDAYS = alternatives(
    """monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays
    thursdays fridays saturdays sundays mon tue tues wed weds thu thur thurs fri
    montag dienstag mittwoch donnerstag freitag samstag sonntag lundi mardi mercredi jeudi
    vendredi samedi dimanche lunes martes miércoles jueves viernes sábado domingo"""
)

# Names that are ordinary words as well; they count only where little else stands.
AMBIGUOUS = words(
    """go make just next express segment kind spring temporal ember solid fish arch fly render
    cursor sublime ant c r got ky vector tempo rest fetch slack teams notion linear drone
    flux karma rider arm nose black hatch attrs trunk spaces tabs parcel less swift dart
    crystal nim fiber gin echo spark requests hypothesis nest sam mix task fiber chef puppet
    salt consul nomad vault drizzle sequelize clerk render postmark plausible segment joi
    phoenix clang proto stack rails actix rocky prefect dagster thrift json yaml xml csv
    html css sql js node python shell linux windows macos github git commit squash rebase
    integers cents decimal cursors ios"""
)

# Names people write in lower case. Only used to tell a specific object from a vague one.
TOOLS = words(
    """postgres postgresql pg mysql mariadb sqlite redis valkey memcached mongo mongodb
    cassandra dynamodb cockroachdb clickhouse duckdb snowflake bigquery elasticsearch
    opensearch solr meilisearch typesense algolia kafka rabbitmq rabbit nats pulsar sqs sns
    celery sidekiq bullmq temporal airflow dagster prefect dbt spark flink docker podman
    kubernetes k8s k3s helm argo argocd flux terraform tofu opentofu pulumi ansible chef
    puppet vagrant packer nomad consul vault nginx caddy traefik haproxy envoy istio linkerd
    kong apache tomcat jetty gunicorn uvicorn jenkins gitlab github gitlab-ci circleci
    travis buildkite drone teamcity bamboo bitbucket gerrit jira linear notion confluence
    slack teams discord zulip pagerduty opsgenie sentry datadog grafana prometheus loki
    tempo jaeger zipkin honeycomb newrelic splunk kibana logstash fluentd vector
    opentelemetry otel statsd influxdb python ruby rails django flask fastapi starlette node
    nodejs deno bun npm yarn pnpm corepack webpack vite rollup esbuild swc parcel turbo nx
    lerna babel typescript javascript ts js react preact vue nuxt nextjs remix svelte
    sveltekit angular ember astro htmx alpine jquery redux zustand jotai mobx recoil pinia
    vuex tailwind bootstrap mui chakra sass scss css styled-components emotion storybook
    jest vitest mocha chai jasmine karma cypress playwright selenium puppeteer pytest
    unittest nose tox nox hypothesis ruff black flake8 pylint mypy pyright isort poetry uv
    pip pipenv conda hatch eslint prettier biome stylelint husky lefthook java kotlin scala
    groovy gradle maven bazel ant spring micronaut quarkus hibernate jooq flyway liquibase
    alembic sqlalchemy prisma typeorm sequelize knex drizzle kysely mikroorm golang gin echo
    fiber gorm sqlc rust cargo tokio axum actix diesel serde c++ cpp cmake meson ninja clang
    gcc llvm swift swiftui objc xcode cocoapods android ios flutter dart elixir phoenix
    erlang haskell ocaml clojure php laravel symfony composer perl lua zig nim crystal julia
    matlab fortran cobol csharp dotnet .net blazor efcore nuget graphql grpc soap trpc
    protobuf avro thrift json yaml toml xml csv parquet openapi swagger postman insomnia
    bruno oauth oidc saml jwt keycloak auth0 okta cognito clerk supabase firebase amplify
    aws gcp azure heroku vercel netlify flyio railway cloudflare fastly akamai digitalocean
    linode hetzner ovh s3 minio gcs lambda ec2 ecs eks gke aks fargate ubuntu debian alpine
    fedora centos rhel rocky arch nixos nix macos windows wsl linux bsd freebsd x86 amd64
    arm64 arm aarch64 vim neovim nvim emacs helix zed vscode cursor intellij pycharm
    webstorm goland rider sublime zellij tmux zsh bash fish powershell dvorak colemak zod
    yup joi ajv pydantic marshmallow dataclasses attrs react-hook-form formik lodash ramda
    moment dayjs date-fns luxon axios fetch httpx requests aiohttp trpc nest nestjs express
    koa hapi fastify hono elysia strapi sanity contentful wordpress drupal magento shopify
    stripe paypal adyen twilio sendgrid mailgun postmark ses mailchimp launchdarkly unleash
    flagsmith growthbook amplitude mixpanel posthog plausible matomo utc est cet pst iso8601
    snake_case camelcase kebab-case pascalcase tabs spaces vpn sse websocket websockets
    webhooks polling ssr csr spa klaro oauth2 pkce hmac glitchtip squid sonar sonarqube
    codecov figma miro bastion tailscale wireguard ssh proto monorepo trunk squash rebase
    semver cursors cursor trigram bff orm kotlin groovy jsx tsx mdx markdown rst asciidoc
    sphinx mkdocs docusaurus cdk sam sst serverless knative minikube tilt skaffold ulid uuid
    uuidv7 uuids cents integers decimal bigint"""
)
