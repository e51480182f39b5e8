// The process that does one piece of work for filings: compresses a file, sends some, or reads what a regulator said. Whoever started it hands it the job with the
// key, and it ends with whoever that was.
import { doFilingJob, type FilingJob, realTools } from "../adapters/filing-transport/filing-jobs.ts";
import { filingFolder } from "../adapters/system/filing-files.ts";
import { handedIn } from "../adapters/system/limited-process.ts";

export interface FilingProcessInput {
  /** The folder of submission files. */
  readonly root: string;
  readonly job: FilingJob;
}

const side = handedIn();
const { root, job } = (await side.input) as FilingProcessInput;
await side.say(await doFilingJob(job, realTools(filingFolder(root))));
process.exit(0);
