// The PDF of a report with the compiler and the fonts that come with us. Loaded by whoever makes one, because they are large; a ctl that was installed
// alone has neither.
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import type * as typst from "@myriaddreamin/typst-ts-node-compiler";
import type { ReportDocument } from "../reports/document.ts";
import { renderPdf } from "../reports/render/pdf.ts";

const fontFiles = [
  "@expo-google-fonts/inter/400Regular/Inter_400Regular.ttf",
  "@expo-google-fonts/inter/600SemiBold/Inter_600SemiBold.ttf",
  "@expo-google-fonts/jetbrains-mono/400Regular/JetBrainsMono_400Regular.ttf",
] as const;

export async function pdfOf(document: ReportDocument): Promise<Uint8Array> {
  // Not a plain import: bundlers would follow it into native code.
  const load = createRequire(import.meta.url);
  const { NodeCompiler }: typeof typst = load("@myriaddreamin/typst-ts-node-compiler");
  const fonts = await Promise.all(fontFiles.map((name) => readFile(load.resolve(name))));
  return renderPdf(document, { compiler: NodeCompiler, fonts });
}
