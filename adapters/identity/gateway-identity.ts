// Everything about identity that the gateway holds: it verifies like every process, and it alone lets people in, keeps their second factors and
// gives tokens to machines. With the embedded provider `begin` opens it once its address is known; with the user's own issuer there is
// nothing to open. Whatever this process changes, its own verifier knows before the caller is answered.
import type { IncomingMessage, ServerResponse } from "node:http";
import { Fault } from "../../contracts/src/fault.ts";
import type { Clock } from "../../ports/clock.ts";
import type { Health } from "../../ports/health.ts";
import type { SecondFactors, ServiceTokens, Sessions, SigningKeys } from "../../ports/identity.ts";
import type { Log } from "../../ports/log.ts";
import type { Metrics } from "../../ports/metrics.ts";
import type { IdentityRequests, OperatorsAdmin } from "../../ports/operators.ts";
import type { Random } from "../../ports/random.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Timers } from "../../ports/timers.ts";
import type { Configuration } from "../configuration/schema.ts";
import type { OpenConnection } from "../postgres/bus/bus-connection.ts";
import type { PostgresStore } from "../postgres/store.ts";
import type { ReadPeople } from "./administration/change-work.ts";
import { createCosignRequests } from "./administration/cosign-requests.ts";
import { startEndingTokens } from "./administration/ending-tokens.ts";
import { lockPeople } from "./administration/operator-rows.ts";
import { createOperatorsAdmin } from "./administration/operators-admin.ts";
import { createPeopleChanges } from "./administration/people-changes.ts";
import { startAnsweringCodes } from "./answer-one-time-codes.ts";
import { ensureDevelopmentOperators } from "./development-operators.ts";
import type { EmbeddedProvider } from "./embedded/provider.ts";
import { startIdentityPurge } from "./identity-purge.ts";
import { createLoginFactors } from "./logins/login-factors.ts";
import { createProviderRevocations } from "./logins/provider-revocations.ts";
import { createSessions } from "./logins/sessions.ts";
import { type OpenedVerifier, openVerifier } from "./open-verifier.ts";
import { createOperators } from "./operators.ts";
import { createPasswordHashing, type PasswordHashing } from "./password-hashing.ts";
import { hasRealOperators } from "./real-operators.ts";
import { openSealing, type Sealing } from "./sealing.ts";
import { createSecondFactors } from "./second-factors.ts";
import { createServiceTokens, createTokenChanges } from "./service-tokens.ts";

interface GatewayIdentityOptions {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly configuration: Configuration;
  readonly dataFolder: string;
  /** Whether the development operators exist. */
  readonly development: boolean;
  readonly store: PostgresStore;
  readonly secrets: Secrets;
  /** Opens a connection beside the store's, which hears of questions. */
  readonly open?: OpenConnection;
}

export interface GatewayIdentity extends Omit<OpenedVerifier, "feed"> {
  readonly isEmbedded: boolean;
  readonly secondFactors: SecondFactors;
  readonly serviceTokens: ServiceTokens;
  readonly operators: OperatorsAdmin;
  readonly identityRequests: IdentityRequests;
  readonly sessions: Sessions;
  /** Undefined with the user's own issuer. */
  readonly signingKeys: SigningKeys | undefined;
  issuer(): string;
  baseUrl(): string;
  /** The port of the address that the embedded issuer had before, if it had this host. */
  portBefore(host: string): Promise<number | undefined>;
  /** Called once the address is known; when it resolves, people can log in. */
  begin(baseUrl: string): Promise<void>;
  /** Answers what comes in under the embedded issuer's path. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>;
  health(): Health;
  close(): Promise<void>;
}

type RouteParts = "secondFactors" | "serviceTokens" | "operators" | "identityRequests" | "sessions" | "signingKeys";

/** What the gateway's routes are handed of it. */
export function routePartsOf(identity: GatewayIdentity): Pick<GatewayIdentity, RouteParts> {
  const { secondFactors, serviceTokens, operators, identityRequests, sessions, signingKeys } = identity;
  return { secondFactors, serviceTokens, operators, identityRequests, sessions, signingKeys };
}

export async function openGatewayIdentity(options: GatewayIdentityOptions): Promise<GatewayIdentity> {
  const { configuration, store, secrets, random } = options;
  const external = configuration.identity.issuer;
  const sealing = await openSealing(secrets, configuration.secrets.prefix, random);
  const opened = await openVerifier(options);
  const purge = startIdentityPurge(options);
  const answering = startAnsweringCodes({ ...options, sealing });
  const refresh = () => opened.feed.refresh();
  let baseUrl: string | undefined;
  let provider: EmbeddedProvider | undefined;
  let isReady = false;
  const issuer = (): string => external ?? `${known(baseUrl)}/oidc`;
  const sessionS = configuration.identity.session_s;
  const hashing = createPasswordHashing(options.timers);
  const ending = startEndingTokens(options);
  const signingKeys: SigningKeys = { rotate: (...given) => known(provider).keys.rotate(...given) };
  const sessions = createSessions({ ...options, sealing, issuer, sessionS, everybodyIsKnown: external === undefined });

  return {
    verifier: opened.verifier,
    platformToken: opened.platformToken,
    isEmbedded: external === undefined,
    secondFactors: createSecondFactors({ ...options, sealing }),
    ...administration({ ...options, sealing, hashing, issuer, sessionS }, refresh),
    sessions: refreshed(sessions, ["logOut", "revokeAll"], refresh),
    signingKeys: external === undefined ? refreshed(signingKeys, ["rotate"], refresh) : undefined,
    issuer,
    baseUrl: () => known(baseUrl),
    portBefore: (host) => portBefore(store, host),
    async begin(url) {
      baseUrl = url.replace(/\/$/, "");
      if (external === undefined) provider = await openProvider(options, issuer(), sealing, hashing);
      await refresh();
      isReady = true;
    },
    async handle(request, response) {
      await known(provider).handle(request, response);
    },
    health: () => (isReady ? opened.verifier.health() : starting),
    async close() {
      await provider?.close();
      await ending.close();
      await answering.close();
      await purge.close();
      await opened.verifier.close();
    },
  };
}

type AdministrationOptions = GatewayIdentityOptions & {
  readonly sealing: Sealing;
  readonly hashing: PasswordHashing;
  issuer(): string;
  readonly sessionS: number;
};

/** What admins change: people, machines' tokens, and the requests that a second one signs. */
function administration(
  options: AdministrationOptions,
  refresh: () => Promise<void>,
): Pick<GatewayIdentity, "serviceTokens" | "operators" | "identityRequests"> {
  const isExternal = options.configuration.identity.issuer !== undefined;
  const isProduction = options.configuration.mode === "production";
  const people: ReadPeople = isExternal ? async () => "external" : lockPeople;
  const changes = createPeopleChanges(options);
  const tokens = createTokenChanges(options);
  const shared = { ...options, changes, people, isExternal, isProduction };
  return {
    serviceTokens: refreshed(
      createServiceTokens({ ...shared, changes: tokens }),
      ["issue", "rotate", "revoke"],
      refresh,
    ),
    operators: refreshed(createOperatorsAdmin(shared), ["add", "changeRoles", "disable", "resetFactor"], refresh),
    identityRequests: refreshed(createCosignRequests({ ...shared, tokens }), ["cosign"], refresh),
  };
}

const starting: Health = { status: "starting", complaint: "people cannot log in yet" };

/** What a request needs that came before the start was over: the caller is told to come again. */
function known<Value>(value: Value | undefined): Value {
  if (value !== undefined) return value;
  throw new Fault("IDENTITY_UNAVAILABLE", "The gateway is starting; try again in a moment.", { retry: "later" });
}

async function openProvider(
  options: GatewayIdentityOptions,
  issuer: string,
  sealing: Sealing,
  // One set of helpers, so that the bound on hashing at once holds for all of them.
  hashing: PasswordHashing,
): Promise<EmbeddedProvider> {
  const { identity, secrets } = options.configuration;
  if (options.development) {
    await ensureDevelopmentOperators({ ...options, issuer, sealing, hashing, sessionS: identity.session_s });
  } else if (!(await hasRealOperators(options.store))) {
    options.log.warn(
      "nobody can log in: the embedded provider has no people; stop, make the first two admins with `npm start -- --make-admin NAME`, or set PORTCULLIS_OIDC_ISSUER",
    );
  }
  const { openEmbeddedProvider } = await import("./embedded/provider.ts");
  return openEmbeddedProvider({
    ...options,
    issuer,
    sealing,
    accessTokenS: identity.access_token_s,
    sessionS: identity.session_s,
    signingKeyS: identity.signing_key_s,
    secretsPrefix: secrets.prefix,
    people: createOperators({ ...options, hashing, sealing }),
    factors: createLoginFactors({ ...options, sealing }),
    revocations: createProviderRevocations({ ...options, sessionS: identity.session_s }),
  });
}

async function portBefore(store: PostgresStore, host: string): Promise<number | undefined> {
  const row = await store.transactSql("identity.issuer_before", async (_unit, sql) => {
    const found = await sql.read({ text: "select issuer from identity_issuer" });
    return found.rows[0] as { readonly issuer: string } | undefined;
  });
  const before = row === undefined ? undefined : new URL(row.issuer);
  return before !== undefined && before.hostname === host && before.port !== "" ? Number(before.port) : undefined;
}

/** The same methods, each of which resolves only when this process's own verifier has seen the change. */
function refreshed<Methods extends object>(
  methods: Methods,
  changing: readonly (keyof Methods)[],
  refresh: () => Promise<void>,
): Methods {
  const wrapped = changing.map((name) => {
    const method = methods[name] as (...given: unknown[]) => Promise<unknown>;
    return [
      name,
      async (...given: unknown[]) => {
        const outcome = await method(...given);
        await refresh();
        return outcome;
      },
    ];
  });
  return { ...methods, ...Object.fromEntries(wrapped) };
}
