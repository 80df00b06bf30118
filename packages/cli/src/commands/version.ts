import { VERSION } from '@firsthand/server/version.ts';

export function version(): void {
  process.stdout.write(`${VERSION}\n`);
}
