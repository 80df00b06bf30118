import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { IdWindow } from './id-window.ts';

const of = (id: string) => hash('sha256', id, 'buffer').subarray(0, 8);

test('remembers where each of many ids came first', () => {
  const window = new IdWindow(60_000);
  for (let i = 0; i < 20_000; i++) window.addAll(of(`id ${i}`), () => i, 1_000 + i);
  for (let i = 0; i < 20_000; i++) window.addAll(of(`id ${i}`), () => 1_000_000, 21_000);
  for (let i = 0; i < 20_000; i++) expect(window.get(of(`id ${i}`), 0, 21_000)).toBe(i);
  expect(window.get(of('another'), 0, 21_000)).toBeUndefined();
});

test('forgets an id after the window, and never before', () => {
  const window = new IdWindow(1_000);
  for (let time = 0; time < 5_000; time += 10) {
    window.add(of(`at ${time}`), 0, time, time);
    for (let age = 0; age <= 1_000 && age <= time; age += 10) expect(window.get(of(`at ${time - age}`), 0, time)).toBe(time - age);
    if (time >= 1_500) expect(window.get(of(`at ${time - 1_500}`), 0, time)).toBeUndefined();
  }
});

test('drops the oldest ids first when there are too many', () => {
  const window = new IdWindow(1_000, 100);
  for (let i = 0; i < 1_000; i++) window.add(of(`${i}`), 0, i, i);
  expect(window.get(of('999'), 0, 999)).toBe(999);
  expect(window.get(of('0'), 0, 999)).toBeUndefined();
});

test('holds no more than it may also when all ids come at the same moment', () => {
  const window = new IdWindow(1_000, 100);
  for (let i = 0; i < 1_000; i++) window.add(of(`${i}`), 0, i, 0);
  for (let i = 930; i < 1_000; i++) expect(window.get(of(`${i}`), 0, 0)).toBe(i);
  expect(window.get(of('850'), 0, 0)).toBeUndefined();
});

test('the lowest place of an id counts although a later one was added first (a repeat during a takeover was processed twice)', () => {
  const window = new IdWindow(60_000);
  window.addAll(of('repeated'), () => 2_000, 50_000);
  window.addAll(of('repeated'), () => 1_000, 40_000);
  expect(window.get(of('repeated'), 0, 50_000)).toBe(1_000);
});
