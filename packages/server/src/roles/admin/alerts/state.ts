/** When an alert starts and stops to fire. Pure. */
export interface Firing {
  firing: boolean;
  /** Calm checks in a row while firing. */
  calm: number;
}
/** An alert ends after this many calm checks in a row, so that a value at the threshold does not alternate. */
export const CALM_CHECKS = 3;

export function nextState({ firing, calm }: Firing, over: boolean): Firing {
  if (over) return { firing: true, calm: 0 };
  if (!firing) return { firing: false, calm: 0 };
  return calm + 1 >= CALM_CHECKS ? { firing: false, calm: 0 } : { firing: true, calm: calm + 1 };
}
