// Filings' work in processes of their own, each with ten minutes and a gigabyte at most.
import { fileURLToPath } from "node:url";
import type { Configuration } from "../adapters/configuration/schema.ts";
import type { FilingJobAnswer } from "../adapters/filing-transport/filing-jobs.ts";
import { filingTarget, filingWork } from "../adapters/filing-transport/filing-work.ts";
import { runLimited } from "../adapters/system/limited-process.ts";
import { Fault } from "../contracts/src/fault.ts";
import type { FilingWork } from "../ports/filing-work.ts";
import type { Secrets } from "../ports/secrets.ts";
import type { FilingProcessInput } from "./filing-process.ts";

const limits = { timeMsMax: 600_000, memoryBytesMax: 1_000_000_000 };
const entry = fileURLToPath(new URL("filing-process.js", import.meta.url));

interface FilingWorkHere {
  readonly configuration: Configuration;
  readonly secrets: Pick<Secrets, "get">;
  readonly root: string;
}

export function filingWorkHere({ configuration, secrets, root }: FilingWorkHere): FilingWork {
  return filingWork({
    target: (regime) => filingTarget(configuration, secrets, regime),
    async run(job, signal) {
      let answer: FilingJobAnswer | undefined;
      const input: FilingProcessInput = { root, job };
      const heard = (message: unknown): void => {
        answer = message as FilingJobAnswer;
      };
      const end = await runLimited({ entry, input, environment: {}, limits, signal, heard });
      if (end.kind === "died") throw died(end.why);
      if (answer === undefined) throw died("it said nothing");
      return answer;
    },
  });
}

function died(why: string): Fault {
  return new Fault("FILING_WORK_DIED", `the process for filings died: ${why}`, { retry: "later" });
}
