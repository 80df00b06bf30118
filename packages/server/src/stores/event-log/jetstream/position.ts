/**
 * A record's position: the sequence of its message in the stream, and its place in the batch. The leading letter sorts after the positions of
 * the layout before record batches, which were digits only.
 */
const POSITION = /^b(\d{14})(\d{4})$/;

export interface Position {
  seq: number;
  index: number;
}

export function positionOf(seq: number, index: number): string {
  return `b${String(seq).padStart(14, '0')}${String(index).padStart(4, '0')}`;
}
export function parsePosition(text: string): Position | undefined {
  const parts = POSITION.exec(text);
  return parts === null ? undefined : { seq: Number(parts[1]), index: Number(parts[2]) };
}
