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
  if (text.length <= scratch.length) {
    // The host encodes a kilobyte in a tenth of the time that the loop needs to count it.
    const { read, written } = encoder.encodeInto(text, scratch);
    if (read === text.length) return written;
  }
  return countBytes(text);
}

function countBytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x80) continue;
    if (code < 0x800) bytes += 1;
    else if (code >= 0xd800 && code <= 0xdbff && (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

export function base64(bytes: Uint8Array): string {
  let binary = '';
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary);
}

/** For keys. One that is not base64 is used as it is. The signature is wrong then, and the vendor says so. */
export function fromBase64(text: string): Uint8Array {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return utf8(text);
  }
}
