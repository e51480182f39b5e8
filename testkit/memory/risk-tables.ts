// What the risk engine, reference data and the paper treasury would have on disk: a part of the memory store.
import type { Decimal } from "../../contracts/src/decimal.ts";
import type { RiskEnvelope } from "../../contracts/src/records/envelope.ts";
import type { JudgedNav } from "../../contracts/src/records/fund.ts";
import type { ActiveHalt } from "../../contracts/src/records/halt.ts";
import type { ReferenceKind } from "../../contracts/src/records/reference.ts";
import type { JournalRow, Snapshot } from "../../ports/risk-store.ts";
import type { ConfigurationValue, ReferenceRequest, ReferenceVersion } from "../../ports/store.ts";

export interface Holding {
  readonly fundId: string;
  readonly symbol: string;
  readonly quantity: Decimal;
}

export interface RiskTables {
  writerEpoch: number;
  readonly journal: JournalRow[];
  /** The batches that the journal has. */
  readonly batches: Set<string>;
  readonly fills: Set<string>;
  readonly snapshots: Snapshot[];
  /** Every version of each fund, oldest first. */
  readonly envelopes: Map<string, RiskEnvelope[]>;
  readonly navs: Map<string, JudgedNav>;
  haltEpoch: number;
  /** Those in force, in the order of their epochs. */
  readonly halts: ActiveHalt[];
  /** Those that were lifted, by their ids. */
  readonly liftedHalts: Map<string, ActiveHalt>;
  /** Every version of each kind, oldest first. */
  readonly referenceRequests: Map<string, ReferenceRequest>;
  readonly references: Map<ReferenceKind, ReferenceVersion[]>;
  referenceChange: number;
  readonly holdings: Map<string, Holding>;
  /** The configuration of the last start, by service and path. */
  readonly configuration: Map<string, Map<string, ConfigurationValue>>;
}

export function riskTables(): RiskTables {
  return {
    writerEpoch: 0,
    journal: [],
    batches: new Set(),
    fills: new Set(),
    snapshots: [],
    envelopes: new Map(),
    navs: new Map(),
    haltEpoch: 0,
    halts: [],
    liftedHalts: new Map(),
    referenceRequests: new Map(),
    references: new Map(),
    referenceChange: 0,
    holdings: new Map(),
    configuration: new Map(),
  };
}
