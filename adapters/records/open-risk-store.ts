// Opens what a process reads and writes of the risk engine's books. Only the engine itself keeps the connection over which the journal is
// written; in every other process writing it is a mistake of ours.

import type pg from "pg";
import { Defect } from "../../contracts/src/fault.ts";
import type { BooksQueries } from "../../ports/books-queries.ts";
import type { DatabaseCare } from "../../ports/database-care.ts";
import type { ReferenceData } from "../../ports/reference-data.ts";
import type { ReplayQueries } from "../../ports/replay-queries.ts";
import type { RiskQueries } from "../../ports/risk-queries.ts";
import type { RiskStore } from "../../ports/risk-store.ts";
import type { SafetyReads } from "../../ports/safety-reads.ts";
import type { TreasuryQueries } from "../../ports/treasury-queries.ts";
import type { UnauditedChanges } from "../../ports/unaudited-changes.ts";
import { whenPublished } from "../postgres/bus/wake.ts";
import { createBooksQueries } from "../postgres/queries/books-queries.ts";
import { createDatabaseCare } from "../postgres/queries/database-care.ts";
import { createPostgresReferenceData } from "../postgres/queries/reference-store.ts";
import { createReplayQueries } from "../postgres/queries/replay-queries.ts";
import { createTreasuryQueries } from "../postgres/queries/treasury-queries.ts";
import { createUnauditedChanges } from "../postgres/queries/unaudited-changes.ts";
import { createRiskQueries } from "../postgres/risk/risk-queries.ts";
import { type Ask, createRiskReads, tellingOfChanges } from "../postgres/risk/risk-reads.ts";
import { createPostgresRiskStore } from "../postgres/risk/risk-store.ts";
import { createSafetyReads } from "../postgres/risk/safety-reads.ts";
import { storeFault } from "../postgres/store-fault.ts";
import type { OpenedStore, OpenStoreOptions } from "./open-store.ts";

export interface OpenedRiskStore {
  readonly riskStore: RiskStore;
  readonly riskQueries: RiskQueries;
  readonly replayQueries: ReplayQueries;
  readonly treasuryQueries: TreasuryQueries;
  readonly booksQueries: BooksQueries;
  readonly databaseCare: DatabaseCare;
  readonly unauditedChanges: UnauditedChanges;
  readonly safetyReads: SafetyReads;
  readonly referenceData: ReferenceData;
  close(): Promise<void>;
}

export function openRiskStore(options: OpenStoreOptions, opened: OpenedStore): OpenedRiskStore {
  const { pool, reserved } = opened;
  const common = {
    riskQueries: createRiskQueries(pool),
    replayQueries: createReplayQueries(pool),
    treasuryQueries: createTreasuryQueries(pool),
    booksQueries: createBooksQueries(pool),
    databaseCare: createDatabaseCare(pool, options.clock),
    unauditedChanges: createUnauditedChanges(pool),
    safetyReads: createSafetyReads(pool),
    referenceData: createPostgresReferenceData(pool, reserved),
  };
  if (!options.services.includes("riskengine")) {
    return { ...common, riskStore: readOnly(options, opened), close: async () => undefined };
  }
  const riskStore = createPostgresRiskStore({ ...options, ...opened });
  return { ...common, riskStore, close: () => riskStore.close() };
}

function readOnly({ clock }: OpenStoreOptions, { pool, reserved, wake }: OpenedStore): RiskStore {
  const askOver =
    (connections: pg.Pool): Ask =>
    async (doing, statement) => {
      try {
        return await connections.query(statement);
      } catch (thrown) {
        throw storeFault(thrown, doing);
      }
    };
  const refuse = async (): Promise<never> => {
    throw new Defect("only the risk engine's own process writes its journal");
  };
  return {
    ...createRiskReads(askOver(pool), askOver(reserved), clock),
    takeWriterEpoch: refuse,
    append: refuse,
    outcomeOf: refuse,
    saveSnapshot: refuse,
    onChange: (run) => whenPublished(wake, tellingOfChanges, run),
  };
}
