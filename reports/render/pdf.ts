// A document as PDF, by typst: pages of paper with everything that they need inside. The same document gives the same bytes: the file's time is the
// document's own, and fonts are those that are handed in, never the machine's. So is the compiler, which is native code and not everywhere.
import type { NodeCompiler } from "@myriaddreamin/typst-ts-node-compiler";
import { parse, toUnixMs } from "../../contracts/src/instant.ts";
import type { ReportDocument } from "../document.ts";
import { pdfContent } from "./pdf-pages.ts";
import { pdfTemplate } from "./pdf-template.ts";

/** Where the template believes that its data lie; nothing is read from there. */
const folder = "/portcullis-report";

interface Typesetter {
  readonly compiler: Pick<typeof NodeCompiler, "create">;
  /** The files of Inter and JetBrains Mono, in a form that typst reads. */
  readonly fonts: readonly Uint8Array[];
}

export function renderPdf(document: ReportDocument, { compiler: found, fonts }: Typesetter): Uint8Array {
  const { pages, charts } = pdfContent(document);
  const compiler = found.create({
    workspace: folder,
    fontArgs: [{ fontBlobs: fonts.map((bytes) => Buffer.from(bytes)) }],
  });
  compiler.mapShadow(`${folder}/pages.json`, Buffer.from(JSON.stringify(pages)));
  for (const [name, svg] of Object.entries(charts)) compiler.mapShadow(`${folder}/${name}`, Buffer.from(svg));
  const compiled = compiler.compile({ mainFileContent: pdfTemplate });
  const { result } = compiled;
  if (result === null) {
    const [why] = compiled.takeError()?.shortDiagnostics ?? [];
    throw new Error(`The PDF could not be set: ${JSON.stringify(why)}.`);
  }
  return compiler.pdf(result, { creationTimestamp: Math.floor(toUnixMs(parse(document.as_of)) / 1_000) });
}
