// Filings' work in this process, over files in memory: the jobs are those of the real one, and nothing in it waits for the machine, so that virtual time can be kept.
import type { Bzip2 } from "../../adapters/filing-transport/bzip2.ts";
import { doFilingJob, type FilingJob } from "../../adapters/filing-transport/filing-jobs.ts";
import { filingWork } from "../../adapters/filing-transport/filing-work.ts";
import { Fault } from "../../contracts/src/fault.ts";
import type { FilingFiles } from "../../ports/filing-files.ts";
import type { FilingTransport } from "../../ports/filing-transport.ts";
import type { FilingWork } from "../../ports/filing-work.ts";

export interface MemoryFilingWork {
  readonly work: FilingWork;
  /** What was asked for, by kind. */
  readonly asked: FilingJob["kind"][];
  /** The next job of that kind dies; before it does anything, or after it has done it. */
  dies: { readonly kind: FilingJob["kind"]; readonly when: "before" | "after" } | undefined;
}

/** Less than where the platform runs, so that a test can have more. */
export const memoryFeedbackBytesMax = 1_000_000;

interface MemoryFilingWorkOptions {
  readonly files: FilingFiles;
  readonly bzip2?: Bzip2;
  readonly transport?: FilingTransport;
}

export function memoryFilingWork({ files, bzip2, transport }: MemoryFilingWorkOptions): MemoryFilingWork {
  const asked: FilingJob["kind"][] = [];
  const tools = {
    files,
    open: async () => there(transport),
    bzip2: async () => there(bzip2),
    feedbackBytesMax: memoryFeedbackBytesMax,
  };
  const memory: MemoryFilingWork = {
    asked,
    dies: undefined,
    work: filingWork({
      target: async () => ({ kind: "folder", folder: "memory" }),
      async run(job) {
        asked.push(job.kind);
        const { dies } = memory;
        if (dies?.kind === job.kind) memory.dies = undefined;
        if (dies?.kind === job.kind && dies.when === "before") throw died();
        const answer = await doFilingJob(job, tools);
        if (dies?.kind === job.kind) throw died();
        return answer;
      },
    }),
  };
  return memory;
}

function there<Part>(part: Part | undefined): Part {
  if (part === undefined) throw new Fault("FILING_UNREACHABLE", "nothing is there", { retry: "later" });
  return part;
}

function died(): Fault {
  return new Fault("FILING_WORK_DIED", "it was killed", { retry: "later" });
}
