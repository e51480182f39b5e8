// Opens the audit log for a process. Only operations keeps the connection over which it is written; in every other process writing it is a
// mistake of ours.

import type pg from "pg";
import { Defect } from "../../contracts/src/fault.ts";
import type { AuditLog } from "../../ports/audit-log.ts";
import { createPostgresAuditLog } from "../postgres/audit/audit-log.ts";
import { createAuditReads } from "../postgres/audit/audit-reads.ts";
import { whenWritten } from "../postgres/bus/wake.ts";
import { storeFault } from "../postgres/store-fault.ts";
import { currentLog } from "./flat-audit-log.ts";
import type { OpenedStore, OpenStoreOptions } from "./open-store.ts";

interface OpenedAuditLog {
  readonly auditLog: AuditLog;
  /** Why nothing can be appended at present; undefined when it can, or when it is not this process's business. */
  complaint(): string | undefined;
  close(): Promise<void>;
}

export function openAuditLog(options: OpenStoreOptions, opened: OpenedStore): OpenedAuditLog {
  if (!options.services.includes("operations")) {
    return { auditLog: readOnly(opened), complaint: () => undefined, close: async () => undefined };
  }
  const auditLog = createPostgresAuditLog({ ...options, ...opened });
  return { auditLog, complaint: () => auditLog.complaint(), close: () => auditLog.close() };
}

function readOnly({ pool, wake }: OpenedStore): AuditLog {
  const ask = async (doing: string, statement: pg.QueryConfig): Promise<pg.QueryResult> => {
    try {
      return await pool.query(statement);
    } catch (thrown) {
      throw storeFault(thrown, doing);
    }
  };
  const refuse = async (): Promise<never> => {
    throw new Defect("only operations writes the audit log");
  };
  return currentLog({
    ...createAuditReads(ask),
    takeWriterEpoch: refuse,
    append: refuse,
    closeAndAppend: refuse,
    putCheckpoint: refuse,
    putTiles: refuse,
    replaceTile: refuse,
    repairIndex: refuse,
    onAppend: (run) => whenWritten(wake, "entries", run),
  });
}
