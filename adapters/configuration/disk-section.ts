// The section `disk` of the configuration: from when on room on the disk is kept for exits and halts. A megabyte is 1,000,000 bytes.
import { key } from "./key-facts.ts";
import { section, whole } from "./key-forms.ts";

/** PostgreSQL writes its journal in files of 16 MB and wants several. */
const megabytesMin = 64;
const megabytesMax = 1_000_000_000;

export const disk = section({
  warn_mb: key(whole(megabytesMin, megabytesMax).default(2_000), {
    sentence: "Below so many free megabytes where the platform writes there is a warning (DISK_SPACE_LOW).",
    environment: "PORTCULLIS_DISK_WARN_MB",
  }),
  new_risk_mb: key(whole(megabytesMin, megabytesMax).default(1_000), {
    sentence: "Below so many free megabytes new risk is denied (DISK_LOW); exits and halts go on.",
    environment: "PORTCULLIS_DISK_NEW_RISK_MB",
  }),
  reserve_mb: key(whole(0, 1_000_000).default(256), {
    sentence:
      "So large is the file beside the embedded database that is given up when less than that is free, so that exits and halts can still be written; 0 keeps none.",
    environment: "PORTCULLIS_DISK_RESERVE_MB",
  }),
});
