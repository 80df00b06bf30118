const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

export function utf8(text: string): Uint8Array {
  return encoder.encode(text);
}

export function fromUtf8(bytes: Uint8Array): string {
  return decoder.decode(bytes);
}

/** Reused, so that counting allocates nothing. Its content is never read. */
const scratch = new Uint8Array(16_384);

/** Length of the text in UTF-8. A lone surrogate counts as the replacement character. */
export function utf8Length(text: string): number {
  let bytes = 0;
  // The host encodes a kilobyte in a tenth of the time that a loop needs to count it.
  for (let from = 0; from < text.length; ) {
    // No surrogate pair is divided: the first half at the end of a full slice does not fit, because it would take three bytes.
    const { read, written } = encoder.encodeInto(text.slice(from, from + scratch.length), scratch);
    from += read;
    bytes += written;
  }
  return bytes;
}

/** For keys. One that is not base64 is used as it is. The signature is wrong then, and the vendor says so. */
export function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return utf8(text);
  }
}
