import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Scanner;
import java.util.regex.Pattern;

/** Like matches.py. Compares the whole text, as Bean Validation does. */
class Matches {
  public static void main(String[] args) {
    Scanner lines = new Scanner(System.in);
    while (lines.hasNextLine()) {
      String[] words = lines.nextLine().split(" ", -1);
      Pattern pattern = Pattern.compile(decoded(words[0]));
      StringBuilder found = new StringBuilder();
      for (int at = 1; at < words.length; at++)
        found.append(pattern.matcher(decoded(words[at])).matches() ? '1' : '0');
      System.out.println(found);
    }
  }

  private static String decoded(String word) {
    return new String(Base64.getDecoder().decode(word), StandardCharsets.UTF_8);
  }
}
