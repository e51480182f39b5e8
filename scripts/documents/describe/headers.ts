// Headers of answers and requests as OpenAPI describes them: each once, by name, and which operation has which.
import { keyHoursMax, keyLengthMax, takesIdempotencyKey } from "../../../contracts/src/idempotency.ts";
import type { Listener, Route } from "../../../ports/http.ts";

interface Header {
  readonly description: string;
  readonly schema: { readonly type: string; readonly format?: string };
}

const text = { type: "string" } as const;

/** What answers carry, by the name of its component. */
export const answerHeaders = {
  "X-Request-Id": { description: "The name of this request in our logs.", schema: text },
  Link: { description: 'The next page, as `<path>; rel="next"` (RFC 8288); absent on the last.', schema: text },
  ETag: {
    description: "The answer's tag; sent back in If-None-Match it gets 304 while nothing changed.",
    schema: text,
  },
  "Portcullis-As-Of": { description: "When what is answered was true, RFC 3339.", schema: text },
  "Portcullis-Stale": { description: "`true` when the services have said nothing for 5 seconds.", schema: text },
  RateLimit: { description: "What is left to this address and in how many seconds it has all.", schema: text },
  "RateLimit-Policy": { description: "How many requests an address has in how many seconds.", schema: text },
  "X-RateLimit-Limit": { description: "As RateLimit-Policy, for older clients.", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "As RateLimit, for older clients.", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "As RateLimit, for older clients: seconds.", schema: { type: "integer" } },
  "Idempotent-Replay": { description: "`true` for the first answer to a key that was sent before.", schema: text },
  Deprecation: { description: "Since when this is deprecated (RFC 9745).", schema: text },
  Sunset: { description: "When it may stop answering (RFC 8594).", schema: text },
  "Retry-After": { description: "Seconds to wait before another try.", schema: { type: "integer" } },
} as const satisfies Readonly<Record<string, Header>>;

type AnswerHeader = keyof typeof answerHeaders;

type References = Readonly<Record<string, { readonly $ref: string }>>;

export function referencesTo(names: readonly AnswerHeader[]): References {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

interface Described {
  readonly parameters?: readonly { readonly in: string; readonly name: string }[];
}

const rateHeaders = [
  "RateLimit",
  "RateLimit-Policy",
  "X-RateLimit-Limit",
  "X-RateLimit-Remaining",
  "X-RateLimit-Reset",
] as const;
const marketHeaders = ["ETag", "Portcullis-As-Of", "Portcullis-Stale"] as const;

/** What anyone may read of the market, from what the services said last. */
function isMarketData({ operation }: Route, listener: Listener): boolean {
  return listener === "public" && operation === "ReadMarketData";
}

/** Whether it answers 304 to whoever holds the newest. */
export function answersUnchanged(route: Route, listener: Listener): boolean {
  return (
    isMarketData(route, listener) || (route.versioned === true && route.method === "GET") || route.document === true
  );
}

const keyParameter = {
  in: "header",
  name: "Idempotency-Key",
  required: false,
  description: `A name that you make up for this request: sent again within ${keyHoursMax} hours, it is not done again and gets the first answer.`,
  schema: { ...text, minLength: 1, maxLength: keyLengthMax },
};

/** The headers that a request may carry beside its token. */
export function askedHeaders(route: Route): readonly object[] {
  if (takesIdempotencyKey(route)) return [keyParameter];
  if (route.versioned !== true || route.method !== "PUT") return [];
  const description = "The ETag that was read: when it is no longer the newest, nothing changes and the answer is 412.";
  return [{ in: "header", name: "If-Match", required: false, description, schema: text }];
}

/** What its good answers carry. */
export function headersOf(route: Route, listener: Listener, { parameters = [] }: Described): readonly AnswerHeader[] {
  const asks = (name: string): boolean => parameters.some((one) => one.in === "query" && one.name === name);
  return [
    "X-Request-Id",
    ...(asks("count_max") && (asks("after") || asks("start")) ? (["Link"] as const) : []),
    ...(isMarketData(route, listener) ? marketHeaders : []),
    ...(takesIdempotencyKey(route) ? (["Idempotent-Replay"] as const) : []),
    ...(route.versioned === true || route.document === true ? (["ETag"] as const) : []),
    ...(listener === "public" && route.publicCost !== undefined ? rateHeaders : []),
    ...(route.deprecated === undefined ? [] : (["Deprecation", "Sunset"] as const)),
  ];
}
