import { currencyDigits } from '#src/domain/money.js';
import { amountText, type NumberProblem, numberText, priceText, typedText } from './formats.js';

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
    lockedOut: 'The service no longer accepts this key: it has expired or was revoked. Sign in with another one.',
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
  bulk: {
    title: 'Selected records',
    select: (name: string) => `Select ${name}`,
    selectPage: 'Select all on this page',
    selectAll: (total: string) => (total === '' ? 'Select all that match' : `Select all ${total} that match`),
    selected: (count: string) => `${count} selected`,
    clear: 'Clear selection',
  },
  place: {
    title: 'Place in the list',
    previous: '‹ Previous',
    next: 'Next ›',
  },
  live: {
    hint: 'Changes by others appear here.',
    /** @returns an empty text if nothing happened */
    news: ({ changed, deleted, added }: Readonly<Record<'changed' | 'deleted' | 'added', number>>) => {
      const records = (count: number) => (count === 1 ? '1 record' : `${numberText(count)} records`);
      const parts = [
        ...(changed > 0 ? [`${records(changed)} changed`] : []),
        ...(deleted > 0 ? [`${records(deleted)} deleted`] : []),
        ...(added > 0 ? [records(added).replace(' ', ' new ')] : []),
      ];
      return parts.length === 0 ? '' : `${parts.join(', ')}.`;
    },
    show: 'Show new records',
    showNewest: 'Show the newest first',
    refresh: 'Refresh the list',
    marks: { changed: 'changed', deleted: 'deleted', new: 'new' },
    renewed: 'Somebody else changed this record. You see it as it is now.',
    stale: 'Somebody else has changed this record since.',
    untouched: 'Somebody else has changed this record since. What you typed is untouched.',
    compare: 'Compare both',
    showNow: 'Show it as it is now',
  },
  columns: {
    button: 'Columns',
    title: 'Columns to show',
    reset: 'Reset columns',
    pictures: 'Load pictures',
    none: '—',
    more: (count: number) => `+${count}`,
    yes: 'yes',
    no: 'no',
  },
  /** The words for a field that has one of a few values or none, by its name. */
  choices: {
    status: { none: 'live', several: { draft: 'Drafts' } },
  } as Readonly<Record<string, { readonly none: string; readonly several: Readonly<Record<string, string>> }>>,
  filters: {
    all: 'All',
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
      all: 'has all of',
      prefix: 'begins with',
      exists: 'has a value',
    } as Readonly<Record<string, string>>,
  },
  facets: {
    button: 'Counts',
    title: 'Number of records by value',
    failed: 'The counts could not be read',
    chosen: (count: number) => `${count} chosen`,
    prefix: 'Begins with',
    prefixOf: (label: string) => `${label}: begins with`,
    none: 'No record has a value.',
    noneWithPrefix: 'No value begins so. Capital and small letters differ.',
    more: 'More',
    moreOf: (label: string) => `More values of ${label}`,
    tooMany: (count: string) => `These are the ${count} most frequent ones. Type how another one begins.`,
    key: 'Another attribute',
    addKey: 'Count',
    noComma: 'Attributes with a comma in their name cannot be counted.',
    chart: (label: string) => `${label} ranges`,
    chartTitle: (title: string, currency: string) => `${title} by price in ${currency}`,
    currency: 'Currency of the prices',
    range: (from: string, below: string) => `${from} to below ${below}`,
    rangeTitle: 'Price',
    countTitle: 'Number',
    limits: { from: 'From', below: 'Below' },
    any: 'any',
    countAgain: 'Something changed: count again',
  },
  tree: {
    title: (label: string) => `Tree of ${label.toLowerCase()}`,
    below: (path: string) => `What is below ${path}`,
    atLeast: (count: string) => `at least ${count}`,
    read: (count: string) => `The ${count} most frequent ones are read.`,
    more: 'Read more',
  },
  form: {
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
    attribute: (key: string) => (key === '' ? 'new attribute' : `attribute ${key}`),
    addEntry: (entry: string) => `Add ${entry}`,
    entry: (entry: string, at: number) => `${entry} ${at + 1}`,
    removeRow: (row: string) => `Remove ${row}`,
    move: (row: string, step: -1 | 1) => `Move ${row} ${step < 0 ? 'up' : 'down'}`,
    removeChip: (text: string) => `Remove ${text}`,
    newTitle: (singular: string) => `New ${singular}`,
    create: 'Create',
    createAnew: 'Create it anew',
    save: 'Save',
    saving: 'Saving…',
    revert: 'Discard changes',
    notSaved: 'Not saved yet',
    created: (singular: string, id: number) => `Created ${singular} ${id}.`,
    saved: (name: string) => `Saved ${name}.`,
    problemsTitle: 'Nothing was saved. Correct this first:',
    /** The part of a rule that a value breaks. */
    broken: {
      required: 'Fill this in.',
      noEntry: 'Add at least one.',
      characters: (most: number) => `At most ${numberText(most)} characters fit here.`,
      entries: (most: number) => `There can be at most ${numberText(most)}.`,
      range: (least: number, most: number) =>
        most === Number.MAX_SAFE_INTEGER
          ? `Write ${least} or more.`
          : `Write a number from ${numberText(least)} to ${numberText(most)}.`,
      taken: (singular: string) => `Another ${singular} has this already.`,
      repeated: 'This is there twice.',
      gone: 'This does not exist any more. Choose another one.',
      noKey: 'Give the attribute a name.',
      key: 'The name has at most 64 characters in one line.',
    },
    problem: problemText,
    goneTitle: 'Somebody deleted this record',
    gone: 'What you typed is still here. You can create a new record with it; the record gets another id.',
    unsavedTitle: 'Leave without saving?',
    unsaved: 'What you typed on this page is not saved.',
    stay: 'Stay on the page',
    leave: 'Leave without saving',
    referring: (title: string, singular: string) => `${title} of this ${singular}`,
    variants: (label: string, value: string) => `${label} ${value}: other variants`,
    noVariants: 'There is no other one.',
    allVariants: 'Show all',
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
    untyped: (column: string, typed: string) =>
      `${column} becomes a text where a record has no such attribute yet, and a filter such as “at least” finds only numbers. Name the column ${typed} if it is no text.`,
    noRecord: (text: string) => `Not a record: ${text.slice(0, 200)}`,
    use: 'How to use this file',
    add: 'Only add records',
    addHint: (key: string) => `A record whose ${key} exists already is refused.`,
    update: (key: string) => `Update by ${key}`,
    updateHint: (key: string, isId: boolean) =>
      isId
        ? `Each record of the file changes the one with its ${key}. If the file has versions too, it overwrites no later change.`
        : `Each record of the file changes the one with its ${key}, or is added if there is none.`,
    existing: 'Records that exist already',
    ways: {
      merge: 'Keep what the file does not mention',
      replace: 'Replace each record',
      skip: 'Leave them alone',
    },
    wayHints: {
      merge: (isCsv: boolean) => (isCsv ? 'An empty cell changes nothing.' : 'A null removes a value.'),
      replace: (isCsv: boolean) =>
        isCsv
          ? 'An empty cell, or a column that the file does not have, removes the value.'
          : 'What the file does not mention is removed.',
      skip: () => 'Only new records are added.',
    },
    check: 'Check the file',
    checkTitle: 'Nothing is written yet',
    checkStopped: 'The check has stopped. Nothing is written.',
    outcome: (counts: readonly (readonly [number, string])[]) =>
      counts.every(([count]) => count === 0)
        ? 'The file has no records.'
        : `${counts.map(([count, what]) => `${numberText(count)} ${what}`).join(', ')}.`,
    noChange: 'This file changes nothing.',
    takenHint: (key: string) => `To change the records that exist already, choose “Update by ${key}”.`,
    fileChangedTitle: 'The file has changed',
    fileChanged: 'It was changed, moved or deleted after you chose it. Choose it again.',
    findings: {
      ofAll: (title: string, shown: number, total: number) =>
        shown < total ? `${title}: the first ${shown} of ${numberText(total)}` : title,
      changes: 'Changes',
      conflicts: 'Changed since the export',
      refusals: 'Refused',
      record: 'Record',
      field: 'Field',
      now: 'Now',
      inFile: 'In the file',
      whole: 'Whole record',
      deleted: 'deleted',
      named: (name: string, id: number) => `${name} (ID ${id})`,
      gone: 'This record does not exist any more.',
      same: 'This record is by now as the file says.',
      number: 'No.',
      reason: 'Reason',
    },
    start: 'Start import',
    starting: 'Sending the first part…',
    cancel: 'Stop',
    stopped: 'The import has stopped. Continue whenever you like, as long as this page is open: nothing is done twice.',
    resume: 'Continue',
    waiting: (seconds: number) => `The rate limit is used up. The import continues in ${seconds} s.`,
    badHeader: 'The header row is invalid, so nothing was imported',
    doneTitle: 'The import is done',
    counted: {
      isNew: 'new',
      created: 'created',
      changed: 'changed',
      unchanged: 'unchanged',
      deleted: 'deleted',
      earlier: 'unchanged or done by an earlier attempt',
      refused: 'refused',
    },
    share: 'Share of the file that is done',
    percent: (percent: number) => `${percent} %`,
    results: 'Records by result',
    expected: 'Records by expected result',
    isNew: 'New',
    created: 'Created',
    changed: 'Changed',
    unchanged: 'Unchanged',
    deleted: 'Deleted',
    createdEarlier: 'Created by an earlier attempt',
    doneEarlier: 'Unchanged, or done by an earlier attempt',
    refused: (code: string) => `Refused: ${code}`,
    conflict: 'Refused: changed since the export',
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
    forEditing: 'To edit and import again',
    forEditingHint: (name: string) =>
      `${name} with the ID and the version of each record: its import updates these records, and overwrites no change that somebody else makes meanwhile.`,
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
  secrets: {
    copy: 'Copy',
    done: 'Done',
  },
  webhooks: {
    create: 'Create webhook',
    name: 'Name',
    url: 'URL',
    urlHint: 'The service sends a POST there after each change, by https alone.',
    otherUrlHint: 'Another URL gets a new secret, and makes your key the owner.',
    resources: 'Changes of',
    resourcesHint: 'Your key is the owner: the webhook sends only while the key is valid and may read these.',
    ownerHint:
      'Another choice makes your key the owner: the webhook sends only while the key is valid and may read these.',
    created: 'The webhook is created',
    once: 'Copy the secret now: the service does not show it again. The receiver needs it to check the signature of each message.',
    replayed:
      'The webhook was already created by an earlier attempt, whose response was lost together with the secret. Make a new secret on its page.',
    settings: 'Settings',
    secret: 'Secret',
    secretText: 'It signs the messages. The service does not show it again, but can make a new one.',
    renew: 'Make a new secret',
    renewTitle: 'Make a new secret?',
    renewText:
      'The new secret signs at once. The old one signs too for 24 hours, so that the receiver can change meanwhile.',
    newSecret: 'The new secret',
    test: 'Send a test',
    testing: 'Sending…',
    tested: (isTaken: boolean, outcome: string) =>
      isTaken
        ? `The receiver took the test message. ${outcome}.`
        : `The receiver did not take the test message. ${outcome}.`,
    responded: (status: number) => `Status ${status}`,
    pause: 'Pause',
    pausedNow: 'The webhook is paused. What changes meanwhile is reported when it is resumed.',
    resume: 'Resume',
    resumed: 'The webhook sends again.',
    isPaused: 'It is paused',
    isFailing: 'The newest message was not taken; it is sent again by itself',
    delete: 'Delete',
    deleteTitle: (name: string) => `Delete “${name}”?`,
    deleteText: 'Nothing is reported to its receiver from then on. This cannot be undone.',
    deleted: (name: string) => `“${name}” is deleted.`,
    key: (id: string) => `API key ${id}`,
    never: 'never',
    deliveries: 'Last deliveries',
    noDeliveries: 'None yet. A test shows whether the receiver can be reached.',
    refresh: 'Refresh',
    at: 'Time',
    message: 'Message',
    changes: 'Changes',
    outcome: 'Outcome',
    taken: 'taken',
    notTaken: 'not taken',
    cancel: 'Cancel',
  },
  keys: {
    title: 'API keys',
    new: 'New key',
    create: 'Create key',
    name: 'Name',
    scopes: 'Scopes',
    expires: 'Expires',
    created: 'The key is created',
    once: 'Copy the key now: the service stores only its hash and cannot show it again.',
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
    themes: { system: 'System', light: 'Light', dark: 'Dark' },
    dismiss: 'Dismiss',
    messages: 'Messages',
    starting: 'Reading the description of the service…',
  },
};

/** What is wrong with a text that a person typed for a number. */
function problemText(problem: NumberProblem | { readonly code: 'repeated_key' }): string {
  switch (problem.code) {
    case 'not_a_number':
      return `Write a number like ${typedText(1250)} or ${typedText(-7.5)}.`;
    case 'not_an_integer':
      return `Write a whole number like ${typedText(1250)}.`;
    case 'too_precise':
      return 'This number has more digits than can be kept exactly.';
    case 'repeated_key':
      return 'Another attribute has the same key.';
    case 'ambiguous': {
      const [one = '', other = ''] = problem.readings.map((reading) => typedText(Number(reading)));
      return `Do you mean ${one} or ${other}? Write one of the two.`;
    }
    case 'not_a_price': {
      const { currency } = problem;
      const digits = currencyDigits(currency);
      const most = digits === 0 ? 'no digits' : `at most ${digits} digits`;
      // A currency that is not typed yet, or wrong, is not named.
      const whose = /^[A-Z]{3}$/.test(currency) ? ` for ${currency}` : '';
      return `Write a price like ${amountText(4990, currency)}: ${most} after the decimal mark${whose}.`;
    }
  }
}
