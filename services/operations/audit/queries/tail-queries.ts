// Reading the log in order, byte for byte: a page at a time, or over a stream on which every request waits for the next entry to be durable. Who
// follows asks for what comes next, so a caller that does not read is sent nothing, and every request may begin anywhere.
import type {
  AuditPage,
  ReadAuditRequest,
  TailAuditRequest,
} from "../../../../contracts/src/generated/svc/v1/auditdesk.ts";
import type { AuditLog } from "../../../../ports/audit-log.ts";
import type { RpcCall, UnaryHandler } from "../../../../ports/rpc.ts";
import type { Timers } from "../../../../ports/timers.ts";
import { invalid } from "../log/reserved.ts";
import { atMost } from "./at-most.ts";

export interface TailQueriesPorts {
  readonly auditLog: Pick<AuditLog, "head" | "read" | "onAppend">;
  /** The log of that number; 0 is the one that is written. */
  readonly logOf?: (number: number) => Promise<Pick<AuditLog, "head" | "read">>;
  readonly timers: Timers;
}

const pageEntriesMax = 1_000;
/** An answer has less than what gRPC sends at most. */
const pageBytesMax = 8_388_608;
/** Pages that are read at once, of at most eight megabytes each. */
const readingsMax = 8;
/** Requests that wait for an entry, of all callers. */
export const waitingMax = 16;
/** Then the answer has no entries; well below what ends a stream that is not answered. */
export const waitMsMax = 10_000;

export function tailHandlers(ports: TailQueriesPorts): Readonly<Record<string, UnaryHandler>> {
  const fewReadings = atMost(readingsMax, "pages of the audit log are being read");
  const fewFollowers = atMost(waitingMax, "callers wait for the next entry");
  return {
    ReadAudit: (request: ReadAuditRequest) =>
      fewReadings(async () => {
        const { log = 0 } = request;
        const auditLog = log === 0 ? ports.auditLog : ((await ports.logOf?.(log)) ?? ports.auditLog);
        return readAudit({ auditLog }, request);
      }),
    TailAudit: (request: TailAuditRequest, call: RpcCall) => fewFollowers(() => follow(ports, request, call.signal)),
  };
}

async function follow(ports: TailQueriesPorts, request: TailAuditRequest, signal: AbortSignal): Promise<AuditPage> {
  const page = await readAudit(ports, request);
  if (page.texts.length > 0) return page;
  if (request.from_sequence > page.size) {
    throw invalid(`from_sequence is ${request.from_sequence}: the log has ${page.size} entries, counted from 0.`);
  }
  return nextPage(ports, request, signal);
}

async function readAudit(
  { auditLog }: { readonly auditLog: Pick<AuditLog, "head" | "read"> },
  request: Pick<ReadAuditRequest, "from_sequence" | "count_max">,
): Promise<AuditPage> {
  const count = Math.min(request.count_max === 0 ? pageEntriesMax : request.count_max, pageEntriesMax);
  const { size } = await auditLog.head();
  if (request.from_sequence >= size) return { texts: [], size };
  const rows = await auditLog.read(request.from_sequence, count);
  const texts: Uint8Array[] = [];
  let bytes = 0;
  for (const { text } of rows) {
    bytes += text.length;
    if (texts.length > 0 && bytes > pageBytesMax) break;
    texts.push(text);
  }
  return { texts: texts as AuditPage["texts"], size };
}

/** Listens before it looks, so that an entry which comes in between is not slept through. What rings may have been something else. */
async function nextPage(ports: TailQueriesPorts, request: TailAuditRequest, signal: AbortSignal): Promise<AuditPage> {
  let ring = (): void => undefined;
  let isOver = false;
  const end = (): void => {
    isOver = true;
    ring();
  };
  const stopListening = ports.auditLog.onAppend(() => ring());
  const stopTimer = ports.timers.after(waitMsMax, end);
  signal.addEventListener("abort", end, { once: true });
  try {
    for (;;) {
      const rung = new Promise<void>((resolve) => {
        ring = resolve;
      });
      const page = await readAudit(ports, request);
      if (page.texts.length > 0 || isOver || signal.aborted) return page;
      await rung;
    }
  } finally {
    stopTimer();
    stopListening();
    signal.removeEventListener("abort", end);
  }
}
