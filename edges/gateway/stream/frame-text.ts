// The frames that are sent most, put together from JSON that was made once for everybody.

export function itemText(channel: string, sequence: number, skipped: number, json: string): string {
  return `{"channel":${JSON.stringify(channel)},"sequence":${sequence},"skipped":${skipped},"data":${json}}`;
}

export function updatesText(items: readonly string[]): string {
  return `{"type":"updates","items":[${items.join(",")}]}`;
}

export function snapshotText(channel: string, sequence: number, json: string): string {
  return `{"type":"snapshot","channel":${JSON.stringify(channel)},"sequence":${sequence},"data":${json}}`;
}
