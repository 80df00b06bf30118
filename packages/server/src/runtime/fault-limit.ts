/** Decides which log lines about a fault are written. An outage repeats the same errors hundreds of times a second. */
const WINDOW_MS = 60_000;
const MOST_FAULTS = 1_000;
const WARN = 40;
const ERROR = 50;

export type OutageOf = (error: Error) => string | undefined;

interface Fault {
  /** Until then lines are left out. */
  ends: number;
  left_out: Map<string, number>;
}

/** Returns the fields to log, or undefined to leave the line out. */
export function createFaultLimit(now: () => number, outageOf: OutageOf = () => undefined) {
  const faults = new Map<string, Fault>();
  return (level: number, fields: unknown, message: unknown): unknown => {
    const error = (level === WARN || level === ERROR) && isObject(fields) ? fields.err : undefined;
    if (!(error instanceof Error) || typeof message !== 'string' || !isObject(fields)) return fields;
    const outage = outageOf(error);
    const at = now();
    const key = outage === undefined ? keyOf(fields, error, message) : `outage of ${outage}`;
    let fault = faults.get(key);
    if (fault !== undefined && at < fault.ends) {
      fault.left_out.set(message, (fault.left_out.get(message) ?? 0) + 1);
      return undefined;
    }
    const leftOut = fault?.left_out;
    if (fault === undefined && faults.size >= MOST_FAULTS) forgetEnded(faults, at);
    fault = { ends: at + WINDOW_MS, left_out: new Map() };
    faults.set(key, fault);
    return {
      ...fields,
      ...(outage === undefined ? {} : { outage, err: undefined, reason: error.message }),
      ...(leftOut === undefined || leftOut.size === 0 ? {} : { left_out: Object.fromEntries(leftOut) }),
    };
  };
}

/** The same message about another integration is another fault. */
function keyOf(fields: Record<string, unknown>, error: Error, message: string): string {
  const id = fields.integration_id ?? fields.pipeline_id ?? fields.id ?? '';
  return `${message}\n${String(codeOf(error) ?? error.name)}\n${String(id)}`;
}
function codeOf(error: Error): unknown {
  return (error as { code?: unknown }).code;
}
function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !(value instanceof Error);
}
/** Over the bound even of faults that have not ended: a line too many is better than memory without end. */
function forgetEnded(faults: Map<string, Fault>, at: number): void {
  for (const [key, { ends }] of faults) if (ends <= at) faults.delete(key);
  if (faults.size >= MOST_FAULTS) faults.clear();
}
