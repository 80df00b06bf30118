/** Tests on character codes: the detectors walk texts without building strings. */
export function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}
export function isLetter(code: number): boolean {
  return (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}
/** Every character above U+00A0 counts as a letter. */
export function isAlphanumeric(code: number): boolean {
  return isDigit(code) || isLetter(code) || code > 160;
}
