// Reads the OpenAPI document in a file with both libraries, and tells what they have against it, one line for each.
import com.reprezen.kaizen.oasparser.OpenApi3Parser;
import com.reprezen.kaizen.oasparser.model3.OpenApi3;
import java.io.File;
import org.openapi4j.core.validation.ValidationException;
import org.openapi4j.parser.validation.v3.OpenApi3Validator;

class ReadApi {
  public static void main(String[] given) throws Exception {
    File file = new File(given[0]);
    OpenApi3 read = (OpenApi3) new OpenApi3Parser().parse(file, true);
    System.out.println("kaizen: " + read.getPaths().size() + " paths");
    for (Object one : read.getValidationItems()) System.out.println("against it, kaizen: " + one);
    var other = new org.openapi4j.parser.OpenApi3Parser().parse(file, false);
    System.out.println("openapi4j: " + other.getPaths().size() + " paths");
    try {
      OpenApi3Validator.instance().validate(other);
    } catch (ValidationException error) {
      for (Object one : error.results().items()) System.out.println("against it, openapi4j: " + one.toString().lines().findFirst().get());
    }
  }
}
