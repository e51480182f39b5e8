// The parts that tests of the routes hand in: every port answers what the test told it to and remembers how it was called, and
// `ask` reaches a route the way the HTTP adapter does, through its schemas.
import { atOnce } from "../../contracts/src/bounds/at-once.ts";
import type { Denial } from "../../contracts/src/codes.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { DeclaredRouteId } from "../../contracts/src/generated/routes.ts";
import * as instant from "../../contracts/src/instant.ts";
import { forwarded } from "../../edges/gateway/declared/route.ts";
import type { GatewayParts } from "../../edges/gateway/parts.ts";
import type { HttpAnswer, HttpRequest, Route } from "../../ports/http.ts";
import type {
  FactorStatus,
  Identity,
  IdentityRequest,
  IssuedToken,
  LoggedOut,
  Outcome,
  ServiceToken,
} from "../../ports/identity.ts";
import type { Operator } from "../../ports/operators.ts";

export const nowForTests = instant.parse("2026-11-15T13:30:00.000000Z");

export const duty: Identity = {
  kind: "operator",
  actor: "operator:duty",
  name: "duty",
  subject: "http://127.0.0.1:8080/oidc|duty",
  issuer: "http://127.0.0.1:8080/oidc",
  roles: ["operator", "admin"],
  tokenId: "jti-1",
  sessionId: "sid-1",
  issuedAt: nowForTests,
  expiresAt: instant.plusMilliseconds(nowForTests, 300_000),
};

export const machine: Identity = {
  ...duty,
  kind: "service",
  actor: "service:feed",
  name: "feed",
  subject: "service:feed",
  roles: ["service"],
  operations: ["CheckOrder"],
};

export const token: ServiceToken = {
  id: "k1",
  name: "feed",
  operations: ["CheckOrder", "GetEnvelope"],
  createdBy: "operator:duty",
  createdAt: nowForTests,
  expiresAt: instant.plusMilliseconds(nowForTests, 3_600_000),
};

export const operator: Operator = {
  name: "erika",
  roles: ["operator"],
  isDevelopment: false,
  createdAt: nowForTests,
};

export const request: IdentityRequest = {
  requestId: "5f0c1c2e-7a8b-4c3d-9e10-0123456789ab",
  operation: "ChangeOperatorRoles",
  target: "operator:erika",
  parameters: { name: "erika", roles: ["viewer"] },
  requestedBy: "operator:anna",
  reason: "moved",
  at: nowForTests,
  expiresAt: instant.plusMilliseconds(nowForTests, 86_400_000),
};

/** Everything a test may turn: what each port answers. A denial stands for every outcome at once. */
export interface Behaviour {
  readonly denial?: Denial;
  readonly retryAfterS?: number;
  readonly status?: FactorStatus;
  readonly tokens?: readonly ServiceToken[];
  readonly externalIssuer?: boolean;
  readonly loggedOut?: LoggedOut;
  /** What the services answer, by "Service/Method"; a procedure that is not named here is down. */
  readonly procedures?: Readonly<Record<string, unknown>>;
}

type CalledParts = Pick<
  GatewayParts,
  | "clock"
  | "services"
  | "events"
  | "instances"
  | "keptLogs"
  | "elsewhere"
  | "verify"
  | "ownToken"
  | "login"
  | "secondFactors"
  | "serviceTokens"
  | "operators"
  | "identityRequests"
  | "sessions"
  | "signingKeys"
  | "openApi"
  | "publicUrl"
  | "publicOpenApi"
  | "asyncApi"
  | "inSlices"
  | "webhook"
  | "githubbot"
  | "reports"
  | "reportSchedules"
>;

/** Not installed. */
const noBot: GatewayParts["githubbot"] = {
  signingSecrets: async () => [],
  keepDelivery: async () => true,
  installation: async () => undefined,
  install: async () => ({ ok: false, denial: { code: "BOT_NOT_INSTALLED", reason: "It is not installed." } }),
  uninstall: async () => ({ ok: false, denial: { code: "BOT_NOT_INSTALLED", reason: "It is not installed." } }),
  pause: async () => undefined,
  status: async () => ({ installation: undefined, pauses: [], isRunning: false, isolation: undefined, notes: [] }),
  runs: async () => [],
  run: async () => undefined,
  deliveries: async () => [],
  budget: async () => ({ day: "2026-11-15", resetsAt: nowForTests, dailyUsd: "5", usedUsd: "0", repositories: [] }),
  notes: () => [],
};

/** Lets everything in. */
function openWebhook(rotate: GatewayParts["webhook"]["secrets"]["rotate"]): GatewayParts["webhook"] {
  return {
    checks: {
      isSource: () => true,
      isRightSecret: async () => true,
      pass: () => ({ passed: true }),
      peek: () => ({ passed: true }),
    },
    secrets: {
      rotate,
      stateOf: async (fundId) => ({ fundId, version: 0, rotatedAt: undefined, previousValidUntil: undefined }),
    },
    sourceAddresses: [],
    trustedProxies: [],
    host: "127.0.0.1",
    noteProxy: () => undefined,
    untrustedProxy: () => undefined,
  };
}

type Answering = <Value>(value: Value, ...call: unknown[]) => Promise<Outcome<Value>>;

/** One person whose changes are done or only requested. */
function peopleParts(outcome: Answering): Pick<GatewayParts, "operators" | "identityRequests"> {
  const gone = { ...operator, disabledAt: nowForTests, disabledBy: "operator:duty" };
  return {
    operators: {
      list: async () => [operator],
      add: (...given) => outcome({ operator, password: "aaaa-bbbb" }, "add", ...given),
      changeRoles: (...given) => outcome({ request, passwordHalf: "aaaa" }, "changeRoles", ...given),
      disable: (...given) => outcome({ operator: gone }, "disable", ...given),
      resetFactor: (...given) => outcome({ request }, "resetFactor", ...given),
    },
    identityRequests: {
      list: async () => [request],
      cosign: (...given) => outcome({ request, cosignedBy: "operator:duty", operator }, "cosign", ...given),
      requestAcceptance: (...given) => outcome({ request }, "requestAcceptance", ...given),
      cosignAcceptance: (...given) => outcome({ request, cosignedBy: "operator:duty" }, "cosignAcceptance", ...given),
    },
  };
}

const noReports: GatewayParts["reports"] = {
  ask: async () => Promise.reject(new Fault("UNIMPLEMENTED", "Nothing makes reports here.", { retry: "never" })),
  reports: async () => [],
  report: async () => undefined,
  document: async () => undefined,
  stop: async () => undefined,
};

export function testParts(behaviour: Behaviour = {}): { readonly parts: CalledParts; readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const { denial, retryAfterS } = behaviour;
  const outcome = <Value>(value: Value, ...call: unknown[]): Promise<Outcome<Value>> => {
    calls.push(call);
    if (denial === undefined) return Promise.resolve({ ok: true, value });
    return Promise.resolve({ ok: false, denial, ...(retryAfterS === undefined ? {} : { retryAfterS }) });
  };
  const issued: IssuedToken = { ...token, token: "pcs_k1_value" };
  const parts: CalledParts = {
    clock: { now: () => nowForTests },
    services: {
      call: async (service, method, request, options) => {
        const name = `${service}/${method}`;
        if (behaviour.denial === undefined && behaviour.procedures?.[name] === undefined) {
          calls.push([name, request, options]);
          throw new Fault("SERVICE_UNAVAILABLE", `The service of ${name} does not answer.`, { retry: "later" });
        }
        return outcome(behaviour.procedures?.[name], name, request, options);
      },
    },
    events: {
      newest: async () => "5",
      read: async ({ after }) => ({ events: [], after, reset: false }),
      onMark: () => () => undefined,
    },
    verify: async () => duty,
    instances: async () => [],
    keptLogs: {
      read: async () => [],
      follow: async function* () {
        yield [];
      },
    },
    elsewhere: () => undefined,
    webhook: openWebhook((...given) =>
      outcome(
        { fundId: "alpha", secret: "s".repeat(43), version: 1, previousValidUntil: undefined },
        "rotate",
        ...given,
      ),
    ),
    githubbot: noBot,
    reports: noReports,
    reportSchedules: { schedules: async () => [], runs: async () => [], runNow: async () => [] },
    ownToken: () => "the-gateways-own-token",
    login: {
      issuer: () => (behaviour.externalIssuer === true ? "https://login.example" : duty.issuer),
      resource: () => "http://127.0.0.1:8080",
      clientId: "portcullis-cli",
      webClientId: "portcullis-web",
      audience: "portcullis",
      scopes: "openid profile offline_access",
      developmentLogin: true,
    },
    secondFactors: {
      status: async () => behaviour.status ?? { recoveryCodesLeft: 0 },
      begin: (...given) => outcome({ secret: "SECRET", uri: "otpauth://totp/x" }, "begin", ...given),
      confirm: (...given) => outcome({ recoveryCodes: ["aaaa-bbbb", "cccc-dddd"] }, "confirm", ...given),
      stepUp: (...given) => outcome({ proof: "proof", expiresAt: nowForTests }, "stepUp", ...given),
    },
    serviceTokens: {
      list: async () => behaviour.tokens ?? [token],
      issue: (...given) => outcome(issued, "issue", ...given),
      rotate: (...given) => outcome(issued, "rotate", ...given),
      revoke: (...given) => outcome({ ...token, revokedAt: nowForTests }, "revoke", ...given),
    },
    ...peopleParts(outcome),
    sessions: {
      logOut: async (...given) => {
        calls.push(["logOut", ...given]);
        return behaviour.loggedOut ?? { deviceLogins: [] };
      },
      revokeAll: async (...given) => {
        calls.push(["revokeAll", ...given]);
        return { known: true };
      },
    },
    signingKeys:
      behaviour.externalIssuer === true
        ? undefined
        : {
            rotate: async (...given) => {
              calls.push(["rotateKeys", ...given]);
              return { keyId: "key-2" };
            },
          },
    publicUrl: () => "http://127.0.0.1:8081",
    openApi: async () => ({ openapi: "3.1.0", info: { title: "Portcullis" } }),
    publicOpenApi: async () => ({ openapi: "3.1.0", info: { title: "Portcullis, public" } }),
    inSlices: async (work) => atOnce(work),
    asyncApi: async () => ({ asyncapi: "3.0.0", info: { title: "Portcullis" } }),
  };
  return { parts, calls };
}

export interface Asked {
  readonly headers?: Readonly<Record<string, string>>;
  readonly identity?: Identity | undefined;
  readonly query?: unknown;
  readonly params?: unknown;
  readonly body?: unknown;
}

/** Through the route's schemas to its handler, and the answer back through the schema of its status. */
export async function ask(route: Route, asked: Asked = {}): Promise<HttpAnswer> {
  const params = route.params?.safeParse(asked.params);
  const body = route.body?.safeParse(asked.body);
  const query = route.query?.safeParse(asked.query ?? {});
  const wrong = [params, query, body].find((read) => read?.success === false);
  if (wrong?.error !== undefined) {
    return { status: 400, body: { detail: wrong.error.issues.map((issue) => issue.message).join("; ") } };
  }
  const request: HttpRequest = {
    requestId: "r",
    identity: "identity" in asked ? asked.identity : duty,
    bearer: () => "the-callers-token",
    remoteAddress: "127.0.0.1",
    params: params?.data,
    query: query?.data,
    body: body?.data,
    headers: asked.headers ?? {},
  };
  const answer = await route.handle(request);
  const schema = route.answers[answer.status];
  // What is documented is exactly what is sent: nothing missing, nothing beside.
  if (answer.status < 400 && (schema === undefined || typeof schema === "string"))
    throw new Error("an undocumented answer");
  if (answer.status < 400 && typeof schema !== "string" && schema !== undefined) {
    const read = JSON.stringify(schema.parse(JSON.parse(JSON.stringify(answer.body))));
    if (read.length !== JSON.stringify(answer.body).length) throw new Error(`undocumented members in ${route.id}`);
  }
  return answer;
}

/** A declared route that is only forwarded, by its name. */
export function forwardedRoute(id: DeclaredRouteId): (parts: Pick<GatewayParts, "services">) => Route {
  return (parts) => forwarded(id, parts);
}
