/** A script in the encodings that browsers accept, each compressed once. */
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

export type Encoding = 'br' | 'gzip';
const compress: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) =>
    promisify(brotliCompress)(bytes, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
        [constants.BROTLI_PARAM_MODE]: constants.BROTLI_MODE_TEXT,
        [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
      },
    }),
  gzip: (bytes) => promisify(gzip)(bytes, { level: constants.Z_BEST_COMPRESSION }),
};

export class EncodedScript {
  readonly plain: Buffer;
  readonly #compressed = new Map<Encoding, Promise<Buffer>>();
  constructor(source: string) {
    this.plain = Buffer.from(source);
  }
  in(encoding: Encoding | undefined): Promise<Buffer> {
    if (encoding === undefined) return Promise.resolve(this.plain);
    let bytes = this.#compressed.get(encoding);
    if (bytes === undefined) this.#compressed.set(encoding, (bytes = compress[encoding](this.plain)));
    return bytes;
  }
}

/** The best encoding the client accepts; undefined means uncompressed. */
export function chooseEncoding(accepted: string | undefined): Encoding | undefined {
  const taken = new Map<string, boolean>();
  for (const part of (accepted ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    taken.set(name, !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter)));
  }
  return (['br', 'gzip'] as const).find((encoding) => taken.get(encoding) ?? taken.get('*') ?? false);
}
