import { join } from 'node:path';

/** Where `npm run build -w @firsthand/console` puts the built console. */
export const DIST_FOLDER = join(import.meta.dirname, 'dist');
