import { createTheme, type MantineColorsTuple } from '@mantine/core';

/** The one accent. Index 7 is the colour of buttons; text in the accent's colour uses `--accent`. */
const green: MantineColorsTuple = [
  '#e4f3ee',
  '#c9e6dc',
  '#a3d5c5',
  '#74c0a9',
  '#45b091',
  '#24987a',
  '#128a6c',
  '#0b7a5f',
  '#07614b',
  '#054839',
];
/** What is wrong or cannot be undone. */
const red: MantineColorsTuple = [
  '#fdecea',
  '#fbd5d1',
  '#f6aca4',
  '#ff8a7f',
  '#ff8a7f',
  '#c4352a',
  '#b42318',
  '#b42318',
  '#8f1b12',
  '#6e150e',
];
const grey: MantineColorsTuple = [
  '#f7f8f7',
  '#eef1ef',
  '#e3e7e5',
  '#d2d9d5',
  '#c6cfca',
  '#93a09a',
  '#66736d',
  '#46524c',
  '#2a3530',
  '#16211d',
];
const dark: MantineColorsTuple = [
  '#e6ece9',
  '#c3ccc8',
  '#9caaa3',
  '#75837c',
  '#3d4a44',
  '#2c3732',
  '#212b26',
  '#18201c',
  '#121916',
  '#0d1310',
];

const MONO = 'ui-monospace, "SFMono-Regular", "DejaVu Sans Mono", Menlo, Consolas, monospace';

/** An alert in the colours of the theme, as calm as the tags: the component's own yellow is the loudest thing on a page, most of all on dark. */
const ALERTS: Readonly<Record<string, { soft: string; text: string }>> = {
  yellow: { soft: 'var(--warn-soft)', text: 'var(--warn)' },
  red: { soft: 'var(--bad-soft)', text: 'var(--bad)' },
  green: { soft: 'var(--accent-soft)', text: 'var(--accent)' },
};

export const theme = createTheme({
  primaryColor: 'green',
  primaryShade: 7,
  autoContrast: true,
  colors: { green, red, gray: grey, dark },
  black: '#16211d',
  fontFamily: 'system-ui, "Segoe UI", "DejaVu Sans", sans-serif',
  fontFamilyMonospace: MONO,
  fontSizes: { xs: '0.75rem', sm: '0.8125rem', md: '0.875rem', lg: '1rem', xl: '1.125rem' },
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.25rem' }, h2: { fontSize: '1rem' }, h3: { fontSize: '0.875rem' } } },
  defaultRadius: 6,
  spacing: { xs: '0.5rem', sm: '0.75rem', md: '1rem', lg: '1.5rem', xl: '2rem' },
  components: {
    Alert: {
      vars: (_theme: unknown, { color }: { color?: string }) => {
        const { soft, text } = ALERTS[color ?? 'green'] ?? {};
        return { root: soft === undefined ? {} : { '--alert-bg': soft, '--alert-color': text } };
      },
    },
    Button: { defaultProps: { size: 'xs' } },
    TextInput: { defaultProps: { size: 'sm' } },
    PasswordInput: { defaultProps: { size: 'sm' } },
    Select: { defaultProps: { size: 'sm', comboboxProps: { shadow: 'sm' } } },
    // A click beside a dialog must not lose what was typed in it.
    Modal: {
      defaultProps: {
        closeOnClickOutside: false,
        closeButtonProps: { 'aria-label': 'Close' },
        // The head of a dialog is no second banner of the page.
        attributes: { header: { role: 'presentation' } },
      },
    },
    Tooltip: { defaultProps: { openDelay: 300 } },
    Table: { defaultProps: { verticalSpacing: 8, horizontalSpacing: 'sm', highlightOnHover: true } },
  },
});
