// Rules over the keys of scheduled reports: which report a schedule is, and what mail and storage need before the first report is due.
import { reportNamedBy } from "../../../contracts/src/records/report-schedule.ts";
import type { Complaint } from "../complaint.ts";
import { id } from "../key-forms.ts";
import type { Path } from "../schema-tree.ts";
import { nameSaysReport } from "../sections/reports-section.ts";
import { valueAt } from "../tree.ts";
import { type CheckInput, complain, effective } from "./check-input.ts";

function schedulesOf(input: CheckInput): readonly string[] {
  const schedule = valueAt(input.tree, ["reports", "schedule"]);
  return typeof schedule === "object" && schedule !== null ? Object.keys(schedule) : [];
}

export function schedulesNameTheirReport(input: CheckInput): readonly Complaint[] {
  return schedulesOf(input).flatMap((name) => {
    const path: Path = ["reports", "schedule", name, "report"];
    if (valueAt(input.tree, path) !== undefined || reportNamedBy(name) !== undefined) return [];
    // Whatever else is wrong with it is said first.
    if (!id().safeParse(name).success) return [];
    if (typeof valueAt(input.tree, ["reports", "schedule", name, "cron"]) !== "string") return [];
    return [
      complain(
        input,
        path,
        `${nameSaysReport}, because the name ${JSON.stringify(name)} does not say which report it is`,
      ),
    ];
  });
}

export function windowsWhereThereAreSome(input: CheckInput): readonly Complaint[] {
  return schedulesOf(input).flatMap((name) => {
    const path: Path = ["reports", "schedule", name, "window"];
    const report = valueAt(input.tree, ["reports", "schedule", name, "report"]) ?? reportNamedBy(name);
    const isFixed = report === "settlement_report" || report === "risk_envelope_report";
    if (!isFixed || valueAt(input.tree, path) === undefined) return [];
    return [complain(input, path, `no window, because a ${report} has none`)];
  });
}

export function mailNeedsServer(input: CheckInput): readonly Complaint[] {
  if (effective(input, ["reports", "email", "provider"]) !== "smtp") return [];
  const host: Path = ["reports", "email", "host"];
  const to: Path = ["reports", "email", "to"];
  const recipients = valueAt(input.tree, to);
  return [
    ...(valueAt(input.tree, host) === undefined
      ? [complain(input, host, "the mail server, because reports.email.provider is smtp")]
      : []),
    ...(recipients === undefined || (Array.isArray(recipients) && recipients.length === 0)
      ? [complain(input, to, "at least one recipient, because reports.email.provider is smtp")]
      : []),
  ];
}

export function storageNeedsBucket(input: CheckInput): readonly Complaint[] {
  if (effective(input, ["reports", "storage", "provider"]) !== "s3") return [];
  return ["endpoint", "bucket", "access_key_id"].flatMap((name) => {
    const path: Path = ["reports", "storage", name];
    if (valueAt(input.tree, path) !== undefined) return [];
    return [complain(input, path, "a value, because reports.storage.provider is s3")];
  });
}
