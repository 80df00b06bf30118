/** Lines over time, drawn by uPlot and loaded on demand. The same numbers are in a table for screen readers, with the way to what they count. */
import 'uplot/dist/uPlot.min.css';
import { Link, type LinkProps } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import uPlot from 'uplot';
import { axisTime, number } from '../format.ts';
import { entryRange } from '../time-range.ts';
import classes from './time-chart.module.css';

export interface Line {
  name: string;
  /** The name of a colour of the theme, for example `--accent`. */
  colour: string;
  values: readonly number[];
  /** Where its events are listed, by the time that is counted: the number of a minute leads to its own. */
  link: { to: NonNullable<LinkProps['to']>; search: object };
}
const HEIGHT = 200;

interface TimeChartProps {
  label: string;
  times: readonly string[];
  /** Between two times. */
  stepMs: number;
  /** The first minute that counts. */
  from: string | undefined;
  lines: readonly Line[];
}
export function TimeChart({ label, times, stepMs, from, lines }: TimeChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot>(undefined);
  const data = [times.map((time) => Date.parse(time) / 1_000), ...lines.map(({ values }) => [...values])] as uPlot.AlignedData;
  const [isTable, setIsTable] = useState(false);
  const newest = useRef(data);
  newest.current = data;
  const shape = lines.map(({ name, colour }) => `${name} ${colour}`).join();
  // biome-ignore lint/correctness/useExhaustiveDependencies: drawn anew for other lines only; new numbers are set below
  useEffect(() => {
    const box = host.current;
    if (box === null) return;
    const made = new uPlot(optionsOf(box, lines), newest.current, box);
    plot.current = made;
    const resized = new ResizeObserver(() => made.setSize({ width: box.clientWidth, height: HEIGHT }));
    resized.observe(box);
    // Colours are read when it draws: another theme needs another drawing.
    const themed = new MutationObserver(() => made.redraw(false));
    themed.observe(document.documentElement, { attributeFilter: ['data-mantine-color-scheme'] });
    return () => {
      resized.disconnect();
      themed.disconnect();
      made.destroy();
    };
  }, [shape]);
  useEffect(() => {
    plot.current?.setData(newest.current);
  });
  return (
    <figure className={classes.figure} aria-label={label}>
      <div className={classes.legend}>
        {lines.map(({ name, colour, values, link }) => (
          <span key={name}>
            <i style={{ background: `var(${colour})` }} /> {name}{' '}
            <Link {...(link as { to: string })}>
              <b>{number(values.reduce((sum, value) => sum + value, 0))}</b>
            </Link>
          </span>
        ))}
      </div>
      <div ref={host} aria-hidden style={{ minHeight: HEIGHT }} />
      <details onToggle={({ currentTarget }) => setIsTable(currentTarget.open)}>
        <summary>As a table</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
        <section className={classes.table} aria-label={`${label}, as a table`} tabIndex={0}>
          <table>
            <thead>
              <tr>
                <th>Time</th>
                {lines.map(({ name }) => (
                  <th key={name}>{name}</th>
                ))}
              </tr>
            </thead>
            <tbody>
              {/* Made when it is opened: a week has hundreds of numbers. */}
              {isTable &&
                times.map((time, at) => (
                  <tr key={time}>
                    <th>{shortTime(Date.parse(time))}</th>
                    {lines.map(({ name, values, link }) => (
                      <td key={name}>
                        <Link {...(within(link, entryRange(Date.parse(time), stepMs, from)) as { to: string })}>
                          {number(values[at] ?? 0)}
                        </Link>
                      </td>
                    ))}
                  </tr>
                ))}
            </tbody>
          </table>
        </section>
      </details>
    </figure>
  );
}

/** The events of one entry of the series. */
const within = ({ to, search }: Line['link'], range: string) => ({ to, search: { ...search, range } });

const themeColour = (name: string): string => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const formatter = new Intl.DateTimeFormat('en-GB', { day: '2-digit', month: 'short', hour: '2-digit', minute: '2-digit' });
const shortTime = (ms: number): string => formatter.format(ms);

function optionsOf(box: HTMLElement, lines: readonly Line[]): uPlot.Options {
  const font = `11px ${getComputedStyle(box).fontFamily}`;
  const axis = {
    stroke: () => themeColour('--dim'),
    grid: { stroke: () => themeColour('--line'), width: 1 },
    ticks: { show: false },
    font,
  };
  return {
    width: box.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_plot, _low, high) => [0, Math.max(1, high * 1.1)] } },
    axes: [
      { ...axis, grid: { show: false }, values: (_plot, ticks) => ticks.map(axisTime), space: 70, size: 28 },
      { ...axis, size: 56, values: (_plot, ticks) => ticks.map((tick) => (Number.isInteger(tick) ? number(tick) : '')) },
    ],
    series: [
      {},
      ...lines.map(({ name, colour }) => ({ label: name, stroke: () => themeColour(colour), width: 1.5, points: { show: false } })),
    ],
  };
}
