// How far each reader of the bus is behind, out of the platform's own figures in the text form that Prometheus reads.

export interface Lag {
  readonly subscription: string;
  readonly service: string;
  readonly events: number;
}

const line = /^portcullis_bus_lag_events\{([^}]*)\} (\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/;

export function lagsOf(text: string): readonly Lag[] {
  return text.split("\n").flatMap((one) => {
    const [, labels = "", value] = line.exec(one) ?? [];
    if (value === undefined) return [];
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? "";
    return [{ subscription: label("subscription"), service: label("service"), events: Number(value) }];
  });
}

const upLine = /^portcullis_up\{service="([^"]*)"\} 0$/;

/** Services that did not answer: what their readers lack is not among the figures. */
export function silentIn(text: string): readonly string[] {
  return text.split("\n").flatMap((one) => upLine.exec(one)?.[1] ?? []);
}
