export type ReadJson = <T>(text: string, empty: T) => T;

/**
 * For those who read or mend configuration: a column that cannot be read, because its row was damaged underneath us, reads as `empty`, so
 * that its neighbours are listed and writing it anew mends it. The snapshot reads strictly, turns the piece off and says so.
 */
export const storedJson: ReadJson = (text, empty) => {
  try {
    return JSON.parse(text);
  } catch {
    return empty;
  }
};
export const strictJson: ReadJson = (text) => JSON.parse(text);

/** The columns of the fields that were sent: what a client did not name stays as it is stored, readable or not. */
export function columnsOf<Columns extends object>(columns: Columns, sent: object): Partial<Columns> {
  return Object.fromEntries(Object.entries(columns).filter(([name]) => Object.hasOwn(sent, name))) as Partial<Columns>;
}
