// A document as JSON: its own keys in their own order, indented, so that two of them can be compared line by line.
import type { ReportDocument } from "../document.ts";

export const renderJson = (document: ReportDocument): string => `${JSON.stringify(document, null, 2)}\n`;
