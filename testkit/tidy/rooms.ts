// Who may import whom: the table of ARCHITECTURE.md as data. A room is a top-level folder; "composition" are the files at the root, compose/ and supervisor/.
export interface Room {
  readonly rooms: readonly string[];
  /** Which npm packages: all, none, or these. */
  readonly packages: "all" | readonly string[];
  readonly node: boolean;
  /** Said when somebody imports what this room must not. */
  readonly instead: string;
}

export const rooms: Readonly<Record<string, Room>> = {
  contracts: {
    rooms: ["contracts"],
    packages: ["zod", "@bufbuild/protobuf"],
    node: false,
    instead: "contracts are the words everybody shares; they depend on nothing",
  },
  core: {
    rooms: ["core", "contracts"],
    packages: [],
    node: false,
    instead: "the core decides from what it is handed; take the value as a parameter",
  },
  reports: {
    rooms: ["reports", "contracts", "core"],
    packages: ["zod"],
    node: false,
    instead:
      "reports turn facts into documents; take the facts as a parameter (rendering libraries belong in reports/render)",
  },
  ports: {
    rooms: ["ports", "contracts"],
    packages: [],
    node: false,
    instead: "ports are interfaces only",
  },
  adapters: {
    rooms: ["adapters", "ports", "contracts", "core"],
    packages: "all",
    node: true,
    instead: "adapters implement ports and know nothing of services or edges; take what you need as a parameter",
  },
  services: {
    rooms: ["services", "ports", "contracts", "core", "reports"],
    packages: [],
    node: false,
    instead: "services reach the world through ports; name the port and let compose.ts hand in the adapter",
  },
  edges: {
    rooms: ["edges", "ports", "contracts", "reports"],
    packages: "all",
    node: true,
    instead: "edges reach the services through the client; declare data and let compose.ts mount it",
  },
  verifier: {
    rooms: ["verifier"],
    packages: [],
    node: true,
    instead: "the offline verifier shares no code with what it verifies; write it again there",
  },
  testkit: {
    rooms: [
      "testkit",
      "adapters",
      "ports",
      "contracts",
      "core",
      "reports",
      "services",
      "edges",
      "composition",
      "sim",
      "verifier",
    ],
    packages: "all",
    node: true,
    instead: "the testkit serves tests only",
  },
  sim: {
    rooms: ["sim", "testkit", "adapters", "ports", "contracts", "core", "services", "composition"],
    packages: "all",
    node: true,
    instead: "the simulator drives the platform from outside",
  },
  bench: {
    rooms: ["bench", "testkit", "adapters", "ports", "contracts", "core", "services", "composition"],
    packages: "all",
    node: true,
    instead: "a bench measures the platform from outside",
  },
  composition: {
    rooms: ["composition", "adapters", "ports", "contracts", "core", "services", "edges", "reports"],
    packages: "all",
    node: true,
    instead: "the product does not import its test tools",
  },
};

/** The rooms of the core, lowest first: each imports what stands below it, nothing beside it and nothing above. */
export const coreFloors: readonly (readonly string[])[] = [
  ["money", "stats"],
  ["ledger"],
  ["envelope", "options", "watchdogs"],
  ["state", "paper"],
  ["blocks", "exposure", "losses", "strategies"],
  ["orders"],
  ["halts", "gates"],
  ["engine"],
];

/** Rooms of the core that import no other and that no other imports. */
export const coreApart: readonly string[] = [
  "audit",
  "bots",
  "filings",
  "foreign",
  "identity",
  "reconcile",
  "stops",
  "webhook",
];
