import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FILES } from './generate-field-copiers.ts';

test.each(FILES)('$file is up to date', ({ file, text }) => expect(readFileSync(file, 'utf8')).toBe(text));
