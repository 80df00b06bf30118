/** What the detectors of personal data have in common. */
export type PiiKind = 'email' | 'phone' | 'card' | 'iban';
export interface Finding {
  kind: PiiKind;
  start: number;
  end: number;
}
export interface Tries {
  left: number;
}
export interface DetectOptions {
  /** ISO 3166 country of the visitor. Required to recognise national phone numbers. */
  country?: string | undefined;
  /** Phone library calls left for this event. */
  tries?: Tries | undefined;
}
/**
 * Appends every finding that begins in [from, until) and returns the position where the next window starts. A detector may
 * read past `until` to complete a finding, by a bounded number of characters.
 */
export type Detector = (text: string, from: number, until: number, findings: Finding[], options: DetectOptions) => number;
