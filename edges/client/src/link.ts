// The Link header (RFC 8288) as this API writes it: `</v1/oms/orders?after=o-7>; rel="next"`.

/** The path of the next page with its query, or undefined on the last one. A link that leads to another server is not followed. */
export function nextPath(header: string | null): string | undefined {
  for (const [, target = "", parameters = ""] of (header ?? "").matchAll(/<([^<>]*)>((?:\s*;[^,;]+)*)/g)) {
    if (!/;\s*rel="?next"?\s*(?:;|$)/.test(parameters)) continue;
    return /^\/(?!\/)/.test(target) ? target : undefined;
  }
  return undefined;
}
