// What the parts of filings share.
import type { HexSha256 } from "../../../core/filings/regulatory-event.ts";
import type { FilingRecord } from "../../../ports/filing-records.ts";
import type { OneAtATime } from "../../reference/one-at-a-time.ts";
import type { ServicePorts } from "../../shared/service.ts";
import type { WorkerAlarms } from "../worker-alarms.ts";
import type { FileImages } from "./file-images.ts";

export interface FilingParts {
  readonly ports: Pick<
    ServicePorts,
    | "store"
    | "clock"
    | "timers"
    | "referenceData"
    | "riskStore"
    | "riskQueries"
    | "settings"
    | "metrics"
    | "auditLog"
    | "sha256OfBytes"
    | "filingFiles"
    | "filingWork"
  >;
  readonly images: FileImages;
  readonly alarms: WorkerAlarms;
  readonly sha256: HexSha256;
  /** Records are made one after the other: each takes the next line of its file. */
  readonly inTurn: OneAtATime;
  /** Files are sealed and sent one after the other, whoever asks. */
  readonly sealing: OneAtATime;
  /** A record was put aside: operators hear of it, of one that waits for its order only when it waits for long. */
  quarantined(record: FilingRecord): Promise<void>;
}
