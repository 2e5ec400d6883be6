import { currencyDigits } from '#src/domain/money.js';
import { amountText, numberText, priceText } from './formats.js';

const PRICE_OF_25 = priceText({ amount: 25, currency: 'EUR' });

/** All texts of the console, a section for each part. Texts with values are functions. */
export const TEXTS = {
  copied: (isCopied: boolean) =>
    isCopied ? 'Copied.' : 'The browser does not allow copying. The text is selected: copy it yourself.',
  session: {
    title: 'Console',
    signIn: 'Sign in',
    signOut: 'Sign out',
    keyLabel: 'API key or access token',
    keyHint: 'This tab keeps it until you sign out or close the tab.',
    keyHintNoStorage: 'This browser blocks the storage of the tab, so a reload signs you out.',
    show: 'Show',
    checking: 'Checking…',
    badCharacters: 'This has characters that cannot be in a key.',
    empty: 'Enter a key or an access token.',
    intro: 'Find, edit, import and export the records of this service. You see what your key allows.',
    noKey: 'The first start of the service prints a key with every scope. The command line makes more:',
    signedOut: 'You are signed out.',
    lockedOut:
      'The service no longer accepts this key: it has expired or was revoked. Sign in with another one.',
    nothingTitle: 'Nothing to show',
    nothing: 'This key is valid, but has no scope that reads records. Sign in with another one.',
  },
  list: {
    search: 'Search',
    searchHint: 'Beginnings of words',
    new: (singular: string) => `New ${singular}`,
    import: 'Import',
    pages: 'Pages',
    first: 'First',
    previous: 'Previous',
    next: 'Next',
    pageSize: 'Rows',
    count: 'Count all',
    counting: 'Counting…',
    total: (total: string, one: boolean) => (one ? '1 record in all' : `${total} records in all`),
    shown: (count: number) => (count === 1 ? '1 record on this page' : `${count} records on this page`),
    loading: 'Loading…',
    loaded: (count: number) => (count === 1 ? '1 record loaded' : `${count} records loaded`),
    emptyTitle: 'No records yet',
    empty: 'Create the first one, or import a file.',
    emptyReadOnly: 'There is nothing here yet.',
    noMatchTitle: 'No record matches',
    noMatch: 'Change the search or the filters, or remove them all.',
    noMatchPage: 'This page is empty: its records are gone.',
    clear: 'Remove search and filters',
    sort: 'Order',
    unsorted: 'Oldest first',
    sortBy: (field: string, isDown: boolean) => `${field}, ${isDown ? 'descending' : 'ascending'}`,
    goFirst: 'Go to the first page',
  },
  columns: {
    button: 'Columns',
    title: 'Columns to show',
    reset: 'Reset columns',
    none: '—',
    more: (count: number) => `and ${count} more`,
    yes: 'yes',
    no: 'no',
  },
  filters: {
    button: (count: number) => (count === 0 ? 'Filters' : `Filters (${count})`),
    title: 'Filters',
    row: 'Filter',
    field: 'Field',
    key: 'Key',
    operator: 'Operator',
    value: 'Value',
    add: 'Add filter',
    remove: 'Remove this filter',
    apply: 'Apply filters',
    missingKey: 'Name the attribute.',
    listHint: (separator: string) => `Several values with ${separator === ';' ? 'semicolons' : 'commas'}.`,
    amountHint: (currency: string | undefined) =>
      currency === undefined
        ? `Such as ${amountText(4990, '')}. Without a filter by the currency, the smallest units of all currencies are compared: ${amountText(4990, 'EUR')} EUR and 4990 JPY are equal.`
        : `In ${currency}, such as ${amountText(4990, currency)}.`,
    operators: {
      equals: 'is',
      ne: 'is not',
      lt: 'is less than',
      lte: 'is at most',
      gt: 'is more than',
      gte: 'is at least',
      in: 'is one of',
      prefix: 'begins with',
      exists: 'has a value',
    } as Readonly<Record<string, string>>,
  },
  form: {
    hints: {
      sku: 'Letters, digits, dots, hyphens and underscores. No other product may have it.',
      amount: `As people write prices: ${amountText(4990, 'EUR')} for EUR, 4990 for JPY.`,
      currency: 'Three capital letters, for example EUR.',
      email: 'No other user may have it.',
    } as Readonly<Record<string, string>>,
    /** What a field may hold; a bound beyond the safe integers is not worth showing. */
    limits: (kind: string, least: number | undefined, most: number | undefined) => {
      const unit =
        ({ text: ' characters', map: ' attributes', list: ' rows' } as Record<string, string>)[kind] ?? '';
      const end = most !== undefined && most < Number.MAX_SAFE_INTEGER ? numberText(most) : '';
      if (kind !== 'number') return end === '' ? '' : `At most ${end}${unit}.`;
      if (end === '') return least === undefined ? '' : `At least ${least}.`;
      return least === undefined ? `At most ${end}.` : `${least} to ${end}.`;
    },
    saveEmpty: 'Save an empty text',
    noValue: 'no value',
    emptyValue: 'empty text',
    key: 'Key',
    type: 'Type',
    value: 'Value',
    types: { text: 'Text', number: 'Number', boolean: 'Yes or no' },
    yes: 'yes',
    no: 'no',
    remove: 'Remove',
    addAttribute: 'Add attribute',
    attribute: (key: string) => (key === '' ? 'new attribute' : `attribute ${key}`),
    addItem: 'Add row',
    row: (row: number) => `row ${row}`,
    removeRow: (row: string) => `Remove ${row}`,
    newTitle: (singular: string) => `New ${singular}`,
    create: 'Create',
    createAnew: 'Create it anew',
    save: 'Save',
    saving: 'Saving…',
    revert: 'Discard changes',
    notSaved: 'Not saved yet',
    created: (singular: string, id: number) => `Created ${singular} ${id}.`,
    saved: (name: string) => `Saved ${name}.`,
    problemsTitle: 'Nothing was saved. Please mend this:',
    /** A JSON Pointer as a person reads it, such as `items › row 2 › productId`. */
    problemAt: (pointer: string, message: string) => {
      const withRows = pointer.slice(1).replace(/\/(\d+)(?=\/)/, (_, at) => `/row ${Number(at) + 1}`);
      const place = withRows.replaceAll('/', ' › ').replaceAll('~1', '/').replaceAll('~0', '~');
      return `${place}: ${message}`;
    },
    problems: {
      not_a_number: 'This is not a number. Write it like 1250 or -7.5.',
      too_precise: 'This number has more digits than can be kept exactly.',
      repeated_key: 'Another attribute has the same key.',
      not_a_price: priceRule,
    },
    goneTitle: 'Somebody deleted this record',
    gone: 'What you typed is still here. You can create a new record with it; the record gets another id.',
    unsavedTitle: 'Leave without saving?',
    unsaved: 'What you typed on this page is not saved.',
    stay: 'Stay on the page',
    leave: 'Leave without saving',
    referring: (title: string, singular: string) => `${title} of this ${singular}`,
    json: 'JSON',
    copyJson: 'Copy JSON',
  },
  conflict: {
    title: 'Somebody else changed this record',
    again: 'Somebody changed this record again',
    intro:
      'Nothing was saved. Choose a value for each field. If only one of you changed a field, that value is chosen already.',
    allYours: 'Choose all of yours',
    allTheirs: 'Choose all of theirs',
    base: 'Before',
    yours: 'Yours',
    theirs: 'Theirs',
    own: 'Another value',
    attribute: (label: string, key: string) => `${label}: ${key}`,
    changedBy: { yours: 'Only you changed this.', theirs: 'Only the other person changed this.' },
    changedByBoth: 'Both of you changed this.',
    save: 'Save my choice',
    back: 'Back to the form',
  },
  deletion: {
    button: (singular: string) => `Delete this ${singular}`,
    waiting: (name: string) => `Deleted ${name}.`,
    sending: (name: string) => `Deleting ${name}…`,
    stillThere: (name: string) => `You deleted ${name}. The message at the end of the page can undo it.`,
    undo: 'Undo',
    undoOne: (name: string) => `Undo the deletion of ${name}`,
    failed: (name: string) => `${name} was not deleted.`,
    conflict: 'Somebody else changed it meanwhile.',
    show: 'Show it',
    dismiss: 'Dismiss',
    dismissOne: (name: string) => `Dismiss the message about ${name}`,
  },
  importing: {
    title: (resource: string) => `Import ${resource.toLowerCase()}`,
    file: 'File to import, chosen or dropped here',
    hint: 'CSV with a header row as an export has it, or NDJSON: one JSON object a line. Any size. An invalid record does not stop the others.',
    ndjsonHint: 'NDJSON: one JSON object a line. Any size. An invalid record does not stop the others.',
    wrongFormat: (name: string, formats: string) => `${name} cannot be imported. Choose ${formats}.`,
    none: (resource: string) => `${resource} cannot be imported.`,
    forbidden: 'Your key does not allow to create these records.',
    previewTitle: (count: number) => (count === 1 ? 'The first record' : `The first ${count} records`),
    csvPrices: `Check the prices. The column price.amount has the smallest unit: 25 EUR is ${PRICE_OF_25}. The column price.decimal has prices as people write them: 25.00.`,
    ndjsonPrices: `Check the prices. An amount is in the smallest unit: 25 EUR is ${PRICE_OF_25}.`,
    noPrice: (text: string) => `${text}: not a price`,
    noRecord: (text: string) => `Not a record: ${text.slice(0, 200)}`,
    start: 'Start import',
    starting: 'Sending the first part…',
    cancel: 'Stop',
    stopped:
      'The import has stopped. Continue whenever you like, as long as this page is open: no record is created twice.',
    resume: 'Continue',
    waiting: (seconds: number) => `The rate limit is used up. The import continues in ${seconds} s.`,
    badHeader: 'The header row is invalid, so nothing was imported',
    doneTitle: 'The import is done',
    done: (kept: number, refused: number) =>
      kept + refused === 0
        ? 'The file has no records.'
        : `${numberText(kept)} created, ${numberText(refused)} refused.`,
    share: 'Imported share of the file',
    percent: (percent: number) => `${percent} %`,
    results: 'Records by result',
    created: 'Created',
    existing: 'Created by an earlier attempt',
    refused: (code: string) => `Refused: ${code}`,
    download: (count: number) => `Download the refused records (${numberText(count)})`,
    another: 'Choose another file',
    leaving: {
      unsavedTitle: 'Stop the import?',
      unsaved: 'The import of this file is not finished. If you leave, the rest is not imported.',
      leave: 'Stop and leave',
    },
    toList: (resource: string) => `Show ${resource.toLowerCase()}`,
  },
  exporting: {
    button: 'Export',
    hint: 'All records that match the search and the filters.',
    as: (format: string) => `As ${format}`,
    forExcel: 'For Excel',
    forExcelHint:
      'CSV that Excel opens with the right letters. Excel takes cells that begin with =, +, - or @ for formulas, so an apostrophe stands before them. Do not import this file again.',
    running: (size: string) => `Exporting… ${size}`,
    cancel: 'Cancel export',
    done: (name: string, size: string) => `${name} is saved: ${size}.`,
    failed: 'Nothing was saved.',
    size: (bytes: number) =>
      bytes < 1_000_000 ? `${Math.ceil(bytes / 1_000)} KB` : `${(bytes / 1_000_000).toFixed(1)} MB`,
  },
  keys: {
    title: 'API keys',
    new: 'New key',
    create: 'Create key',
    name: 'Name',
    nameHint: 'What uses the key, for example “web shop”.',
    scopes: 'Scopes',
    scopesHint: 'A key can give only scopes that it has itself.',
    expires: 'Expires',
    expiresHint: 'In your time zone. Empty: never.',
    created: 'The key is created',
    once: 'Copy the key now: the service stores only its hash and cannot show it again.',
    copy: 'Copy',
    done: 'Done',
    replayed:
      'The key was already created by an earlier attempt, whose response was lost. Revoke it and create another.',
    never: 'never',
    neverUsed: 'never',
    expired: 'expired',
    revoke: 'Revoke',
    revokeTitle: (name: string) => `Revoke “${name}”?`,
    revokeText: 'Programs that use it stop working within seconds. This cannot be undone.',
    revokeOwn: 'If this is the key that you use now, you are signed out.',
    revoked: (name: string) => `“${name}” is revoked.`,
    lastAdminTitle: 'The last key that may manage keys',
    lastAdmin:
      'This is the last key with the scope keys:admin that has not expired, so it cannot be revoked here. Create another one first.',
    usage: 'Requests of the last 24 hours',
    noUsage: 'None.',
    route: 'Route',
    requests: 'Requests',
    cancel: 'Cancel',
  },
  errors: {
    retry: 'Try again',
    close: 'Close',
    requestId: (id: string) => `Request id: ${id}`,
    unauthenticated: {
      title: 'You are signed out',
      text: 'The service no longer accepts this key. Sign in again; what you have typed stays on this page.',
    },
    wrongKey: {
      title: 'The service does not accept this key',
      text: 'Check that you have copied all of it, and that it has not expired or been revoked.',
    },
    forbidden: {
      title: 'This key does not allow that',
      text: (scope: string) =>
        scope === '' ? 'It lacks a scope.' : `It lacks the scope ${scope}. Sign in with a key that has it.`,
    },
    notFound: { title: 'There is no such record', text: 'It was deleted, or the link is wrong.' },
    conflict: { title: 'Somebody else changed this record', text: 'Read it again before you change it.' },
    alteredTag: {
      title: 'The service does not know this version of the record',
      text: 'Nobody has changed the record. Something between this page and the service, perhaps a proxy, alters the header ETag or If-Match.',
    },
    rateLimited: {
      title: 'Too many requests',
      text: (seconds: number | undefined) =>
        seconds === undefined
          ? 'The rate limit is used up. Try again in a minute.'
          : `The rate limit is used up. Try again in ${seconds} s.`,
    },
    unavailable: {
      title: 'The service cannot respond now',
      text: 'Its store is unreachable, or it is overloaded. Try again in a moment.',
    },
    lost: {
      title: 'No connection to the service',
      text: 'The request got no response. Check your network, then try again.',
    },
    unknownOutcome: {
      title: 'It is not known whether this was done',
      text: 'The connection was lost during the change. Read the record to find out.',
    },
    unexpected: {
      title: 'The response did not come from the service',
      text: 'Something between this page and the service has responded in its place, perhaps a proxy.',
    },
    internal: {
      title: 'The service failed',
      text: 'That is an error in the service. Its log has the cause.',
    },
    refused: 'The service refused the request',
    program: { title: 'This page failed', text: 'That is an error in the console.' },
    noPage: {
      title: 'There is no such page',
      text: 'The link is wrong, or your key does not allow the page.',
    },
  },
  status: {
    title: 'Console',
    skip: 'Skip to the content',
    menu: 'Menu',
    navigation: 'Resources',
    docs: 'API reference',
    rateLimit: (remaining: string, limit: string) => `${remaining} of ${limit} requests left`,
    rateLimitUnknown: (remaining: string) => `${remaining} requests left`,
    resets: (seconds: number) => `The limit starts again in ${seconds} s.`,
    latency: (milliseconds: number) => `last response ${milliseconds} ms`,
    theme: 'Colours',
    themes: { system: 'As the system', light: 'Light', dark: 'Dark' },
    dismiss: 'Dismiss',
    messages: 'Messages',
    starting: 'Reading the description of the service…',
  },
};

/** The rule for the text of an amount. A currency that is not typed yet, or wrong, is not named. */
function priceRule(currency: string): string {
  const digits = currencyDigits(currency);
  const most = digits === 0 ? 'no digits' : `at most ${digits} digits`;
  const whose = /^[A-Z]{3}$/.test(currency) ? ` for ${currency}` : '';
  return `Write a number like ${amountText(4990, currency)}: ${most} behind the point${whose}, and no separators of thousands.`;
}
