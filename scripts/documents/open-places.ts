// The part of docs/authority.md about callers without a verified token: what they may ask, of which share, and what it costs.
import { costWithoutToken, type Operation, operations } from "../../contracts/src/authority.ts";
import { type OpenShare, openShares, strangersTogether } from "../../contracts/src/doors/open-shares.ts";
import { gatewayOperations } from "../../contracts/src/gateway-operations.ts";

/** Where no route is declared by itself: a library, files, and what is no request. */
const others: readonly (readonly [Operation, string])[] = [
  ["LogIn", "operator, everything below /oidc"],
  ["ReadWebPages", "operator, the pages and files of the web desks"],
  ["ReadMarketData", "public WebSocket /v1/stream, once for the handshake"],
];

const shareNames: Readonly<Record<OpenShare, string>> = {
  health: "health",
  log_in: "the log-in",
  alert: "alerts",
  page: "pages",
  data: "market data",
  document: "documents",
  nothing: "what takes a token, or leads nowhere",
};

function placeRows(): string[] {
  const declared = (Object.keys(gatewayOperations) as (keyof typeof gatewayOperations)[]).flatMap((operation) => {
    const open = costWithoutToken(operation);
    if (open === undefined) return [];
    return Object.entries<string>(gatewayOperations[operation].routes).map(
      ([id, place]) => [place, open.share, open.costs?.[id] ?? open.cost] as const,
    );
  });
  const more = others.flatMap(([operation, place]) => {
    const open = costWithoutToken(operation);
    return open === undefined ? [] : [[place, open.share, open.cost] as const];
  });
  return [...declared, ...more].map(([place, share, cost]) => `| \`${place}\` | ${shareNames[share]} | ${cost} |`);
}

function shareRows(): string[] {
  return (Object.keys(openShares) as OpenShare[]).map((share) => {
    const { ratePerS, burst, leaves } = openShares[share];
    const others = leaves === undefined ? "never" : `when ${Math.round(100 * leaves)} % is left`;
    return `| ${shareNames[share]} | ${ratePerS} | ${burst} | ${others} |`;
  });
}

export function openPlacesSection(): string[] {
  const undeclared = (Object.keys(operations) as Operation[]).find(
    (name) => operations[name].allowed === "anyone" && costWithoutToken(name) === undefined,
  );
  if (undeclared !== undefined)
    throw new TypeError(`${undeclared} is open to anyone, and nobody declared what it costs`);
  return [
    "What they cost a caller without a verified token, on each port ([0095](decisions/0095-two-reserved-shares-of-the-doors.md)):",
    "",
    "| where | share | costs |",
    "|---|---|---|",
    ...placeRows(),
    "",
    `Every address (an IPv6 /64 is one) has so many of each share a second, and so many at once after a pause. All strangers of a port have ${strangersTogether.ratePerS} a second together`,
    `and ${strangersTogether.burst} at once (of the public port ${strangersTogether.addresses} times \`http.public_rate_per_s\` and \`http.public_burst\`, where that is more), of which documents are refused first and pages`,
    "last. What is more is answered 429 with `Retry-After`. Whoever shows a token that is verified is never counted here. Log-ins, alerts and health are refused for nothing that others",
    "ask.",
    "",
    "| share | a second | at once | refused because of others |",
    "|---|---|---|---|",
    ...shareRows(),
    "",
  ];
}
