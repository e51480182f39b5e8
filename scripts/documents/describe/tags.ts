// The chapters of the reference: which operations stand together, by where their paths begin. The longest beginning wins.
import { Defect } from "../../../contracts/src/fault.ts";
import type { Listener } from "../../../ports/http.ts";

interface Tag {
  readonly name: string;
  readonly description: string;
}

const tags = {
  audit: "The chain of everything that happened: entries, proofs, verification, keys.",
  descriptions: "This interface, described for programs and people.",
  events: "What happens on the platform, as it happens.",
  halts: "Stop trading, see what is stopped, lift it.",
  health: "Whether the platform can do its work.",
  identity: "Who you are: logins, second factors, sessions.",
  "market data": "Prices, instruments, bars and news; on the public port funds and halts as well.",
  metrics: "Figures of every process, for monitoring.",
  operations: "What needs a person: events put aside, restrictions, secrets.",
  orders: "Orders, fills and positions.",
  paper: "The simulated market and its faults.",
  platform: "The processes of the platform and their logs.",
  filings: "What is reported to regulators: submission files and their records.",
  replay: "What was known at a moment of the past, and whether records are what they were.",
  reports: "Reports that the platform makes, and their documents.",
  "repository bot": "A bot at GitHub: installing it, what it did, why it did not act, and what it spent.",
  research: "Strategies, their signals and backtests.",
  risk: "Limits, headroom, decisions, approvals, stops, losses.",
  "service tokens": "Tokens of machines.",
  signals: "Alerts of a charting platform, and what became of them.",
  treasury: "Funds, their values and ledgers, reference data.",
  watchdogs: "What watches the platform, what it found, and how it is set.",
} as const satisfies Readonly<Record<string, string>>;

type TagName = keyof typeof tags;

const beginnings: Readonly<Record<Listener, Readonly<Record<string, TagName>>>> = {
  operator: {
    "/.well-known": "identity",
    "/docs": "descriptions",
    "/metrics": "metrics",
    "/v1/asyncapi.json": "descriptions",
    "/v1/auth": "identity",
    "/v1/drills": "halts",
    "/v1/events": "events",
    "/v1/flatten": "halts",
    "/v1/githubbot": "repository bot",
    "/v1/halts": "halts",
    "/v1/healthz": "health",
    "/v1/market": "market data",
    "/v1/oms": "orders",
    "/v1/oms/paper-weather": "paper",
    "/v1/openapi.json": "descriptions",
    "/v1/operations": "operations",
    "/v1/operations/audit": "audit",
    "/v1/operations/watchdogs": "watchdogs",
    "/v1/paper": "paper",
    "/v1/platform": "platform",
    "/v1/operations/filings": "filings",
    "/v1/replay": "replay",
    "/v1/reports": "reports",
    "/v1/research": "research",
    "/v1/riskengine": "risk",
    "/v1/service-tokens": "service tokens",
    "/v1/signals": "signals",
    "/v1/treasury": "treasury",
    "/v1/webhook": "signals",
  },
  public: {
    "/docs": "descriptions",
    "/githubbot": "repository bot",
    "/tradingview": "signals",
    "/v1/asyncapi.json": "descriptions",
    "/v1/bars": "market data",
    "/v1/funds": "market data",
    "/v1/halts": "market data",
    "/v1/healthz": "health",
    "/v1/instruments": "market data",
    "/v1/openapi.json": "descriptions",
    "/v1/quotes": "market data",
    "/v1/stream": "market data",
  },
};

export function tagOf(path: string, listener: Listener): Tag {
  const known = beginnings[listener];
  const found = Object.keys(known)
    .filter((beginning) => path === beginning || path.startsWith(`${beginning}/`))
    .sort((left, right) => right.length - left.length)[0];
  const name = found === undefined ? undefined : known[found];
  if (name === undefined) {
    throw new Defect(`${path} has no place in the reference: name its beginning in adapters/http/describe/tags.ts.`);
  }
  return { name, description: tags[name] };
}
