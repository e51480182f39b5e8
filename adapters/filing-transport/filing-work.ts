// Filings' work as services ask for it: each piece is a job that somebody runs, in a process of its own where the platform runs, right here in tests.
import { Fault } from "../../contracts/src/fault.ts";
import type { RegimeName } from "../../contracts/src/records/filing.ts";
import type { FilingWork } from "../../ports/filing-work.ts";
import type { Secrets } from "../../ports/secrets.ts";
import type { Configuration } from "../configuration/schema.ts";
import type { FilingJob, FilingJobAnswer, FilingTarget } from "./filing-jobs.ts";

interface FilingWorkOptions {
  run(job: FilingJob, signal: AbortSignal): Promise<FilingJobAnswer>;
  target(regime: RegimeName): Promise<FilingTarget>;
}

const later = { retry: "later" } as const;

export function filingWork({ run, target }: FilingWorkOptions): FilingWork {
  const done = async (job: FilingJob, signal: AbortSignal): Promise<Exclude<FilingJobAnswer, { failed: unknown }>> => {
    const answer = await run(job, signal);
    if (!("failed" in answer)) return answer;
    const { code, sentence } = answer.failed;
    throw new Fault(code === "FILING_NAME_TAKEN" ? code : "FILING_UNREACHABLE", sentence, later);
  };
  return {
    async compress(range, signal) {
      const answer = await done({ kind: "compress", range }, signal);
      return "compressed" in answer ? new Uint8Array(Buffer.from(answer.compressed, "base64")) : "CHANGED";
    },
    async send(regime, files, signal) {
      const answer = await done({ kind: "send", target: await target(regime), files }, signal);
      return "outcomes" in answer ? answer.outcomes : [];
    },
    async listFeedback(regime, signal) {
      const answer = await done({ kind: "list", target: await target(regime) }, signal);
      return "listed" in answer ? answer.listed : [];
    },
    async readFeedback(regime, names, signal) {
      const answer = await done({ kind: "read", target: await target(regime), names }, signal);
      return "read" in answer ? answer.read : [];
    },
    async readGiven(name, content, signal) {
      const answer = await done({ kind: "given", name, content: Buffer.from(content).toString("base64") }, signal);
      const [read] = "read" in answer ? answer.read : [];
      if (read === undefined) throw new Fault("FILING_WORK_DIED", "nothing was answered", later);
      return read;
    },
  };
}

/** Where the configuration says that a regime's files go; its key comes from among the secrets. */
export async function filingTarget(
  configuration: Pick<Configuration, "filings" | "secrets">,
  secrets: Pick<Secrets, "get">,
  regime: RegimeName,
): Promise<FilingTarget> {
  if (regime !== "CAT") throw unreachable(`there is no way for files of ${regime}`);
  const [section, word] = [configuration.filings.cat, "cat"];
  const { transport, folder, sftp } = section;
  if (transport === "folder" && folder !== undefined) return { kind: "folder", folder };
  if (transport !== "sftp") throw unreachable(`filings.${word} names no way to the regulator`);
  const path = `secret/${configuration.secrets.prefix}/filings/${word}/private-key`;
  const privateKey = (await secrets.get(path))?.value;
  if (privateKey === undefined) throw unreachable(`there is no filings/${word}/private-key among the secrets`);
  const { host = "", port, user = "", host_key_sha256: hostKeySha256 = "" } = sftp;
  const { transit_dir: transitDir = "", complete_dir: completeDir = "", feedback_dir: feedbackDir = "" } = sftp;
  return { kind: "sftp", place: { host, port, user, hostKeySha256, transitDir, completeDir, feedbackDir }, privateKey };
}

function unreachable(why: string): Fault {
  return new Fault("FILING_UNREACHABLE", why, later);
}
